// SPDX-License-Identifier: Apache-2.0
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import pc from 'picocolors';
import { type Config, options as settings } from '../base/config/options.js';
import { packageVersion } from '../base/config/package-dir.js';
import { DEFAULT_SILENCE_THRESHOLD_PERCENT } from '../base/contract/limits.js';
import { catalogue } from '../base/errors/catalogue.js';
import { defaultBootstrap } from '../evaluation/figures/bootstrap.js';
import { type ComparedModel, compareModels } from '../evaluation/figures/comparison.js';
import { evaluate, type FailedSample } from '../evaluation/figures/evaluate.js';
import {
  type Condition,
  type LabelledList,
  ListError,
  parseCondition,
} from '../evaluation/figures/labelled-list.js';
import type { Report } from '../evaluation/figures/report.js';
import {
  DURATION_COLUMN,
  REASON_COLUMN,
  type Sample,
  usualGroupColumns,
} from '../evaluation/figures/sample.js';
import { earlierScores, namedScores } from '../evaluation/labelled-lists/earlier-scores.js';
import { listedFiles } from '../evaluation/labelled-lists/listed-files.js';
import {
  type ListOptions,
  type OpenList,
  openList,
  refuseUnused,
  type ScoredList,
} from '../evaluation/labelled-lists/scored-list.js';
import { isFailed, type ScoredRow } from '../evaluation/labelled-lists/scored-rows.js';
import { refuseReplaced, scoresCsv } from '../evaluation/labelled-lists/scores-file.js';
import { parseThreshold, silenceHelp, thresholdHelp, within } from './arguments.js';
import { evaluationTable } from './evaluation-table.js';
import { loadOfflinePages, type OfflinePages } from './offline-pages.js';
import { print, printJson } from './output.js';
import { showListProgress } from './progress-line.js';
import { refuseOverwriting, requireWritable, requireWritableFolder } from './writable.js';

interface EvaluateOptions extends ListOptions {
  readonly groupBy?: readonly string[];
  readonly json?: true;
  readonly report?: string;
  readonly html?: string;
  readonly scores?: string;
  readonly svg?: string;
  readonly compare?: string;
}

export function addEvaluateCommand(program: Command): void {
  const command = program
    .command('evaluate <list>')
    .description(
      'Measure the accuracy of verdicts on a labelled list, with the same pipeline as the server: see docs/evaluate.md.',
    );
  addListOptions(command)
    .option('--threshold <number or name>', thresholdHelp, parseThreshold)
    .option(
      '--compare <id or file>',
      'another model, or scores of an earlier run (.csv), to compare on the same rows',
    )
    .option('--group-by <columns>', 'columns to group results by, separated by commas', parseColumns)
    .option('--json', 'print the report as JSON in place of the tables')
    .option('--report <file>', 'write the report as JSON')
    .option('--html <file>', 'write the report as a single page with plots')
    .option('--scores <file>', 'write the list with the score of each row')
    .option('--svg <folder>', 'write each plot to a file')
    .action(evaluateList);
}

/** Options that `calibrate` also takes. */
export function addListOptions(command: Command): Command {
  return addScoringOptions(command).option(
    '--model <id>',
    'model, by its exact id or an alias (default: that of requests without a model)',
  );
}

/** The rows to score, and the way of scoring. */
export function addScoringOptions(command: Command): Command {
  return command
    .addOption(
      new Option('--where <column=value>', 'only rows with this value; repeatable')
        .argParser(collectCondition)
        .default([], 'all rows'),
    )
    .addOption(
      new Option('--device <device>', 'device that runs the model (default: VERAVOX_DEVICE)').argParser(
        parseDevice,
      ),
    )
    .option(
      '--silence-threshold <percent>',
      `${silenceHelp} (default: ${DEFAULT_SILENCE_THRESHOLD_PERCENT})`,
      within(0, 100),
    );
}

async function writePages(
  pages: OfflinePages,
  report: Report,
  { html, svg }: Pick<EvaluateOptions, 'html' | 'svg'>,
): Promise<void> {
  if (html !== undefined) await writeFile(html, pages.reportPage(report));
  if (svg === undefined) return;
  for (const [name, plot] of pages.plotFiles(report)) await writeFile(path.join(svg, `${name}.svg`), plot);
}

async function evaluateList(file: string, options: EvaluateOptions): Promise<void> {
  // Everything that can be wrong before hours of work, not after them.
  const outputs = [options.report, options.html, options.scores].filter(isGiven);
  for (const output of outputs) requireWritable(output);
  if (options.svg !== undefined) {
    await mkdir(options.svg, { recursive: true });
    requireWritableFolder(options.svg);
  }
  const pages =
    options.html === undefined && options.svg === undefined ? undefined : await loadOfflinePages();
  const opened = await openList(file, options);
  const inputs = [file, options.compare, ...listedFiles(opened.list, path.dirname(file))];
  refuseOverwriting(outputs, inputs.filter(isGiven));
  if (options.scores !== undefined) refuseReplaced(opened.list);
  // Another model has to score the files.
  if (options.compare === undefined || options.compare.endsWith('.csv')) refuseUnused(opened.list, options);
  const groupColumns = groupColumnsOf(opened.list, options.groupBy);
  const scoreOther =
    options.compare === undefined ? undefined : await otherModel(file, opened, options, options.compare);
  const scored = await opened.score(showListProgress);
  if (options.scores !== undefined) {
    await writeFile(options.scores, scoresCsv(scored.list, scored.rows, scored));
  }
  const other = await scoreOther?.();
  const report = reportOf(scored, options, groupColumns, other);
  if (options.report !== undefined) {
    await writeFile(options.report, `${JSON.stringify(report, undefined, 1)}\n`);
  }
  if (pages !== undefined) await writePages(pages, report, options);
  if (options.json) printJson(report, 1);
  else print(evaluationTable(report, pc));
  if (scored.rows.some(isOurs)) process.exitCode = 1;
  if (other !== undefined) refuseUnreadable(other.failed, `rows for ${other.id}`);
}

interface OtherModel extends ComparedModel {
  readonly failed: readonly FailedSample[];
}

/** @returns the way to other scores of the same rows: from a file, or made by another model */
async function otherModel(
  file: string,
  { list, threshold }: OpenList,
  options: EvaluateOptions,
  compared: string,
): Promise<() => Promise<OtherModel>> {
  if (compared.endsWith('.csv')) {
    const earlier = await earlierScores(compared, list.task);
    return async () => ({ ...earlier, threshold, failed: [] });
  }
  const other = await openList(file, { ...options, model: compared, isRescored: true });
  return async () => {
    const { model, rows } = await other.score(showListProgress);
    return {
      id: model.id,
      fingerprint: model.scoreFingerprint,
      threshold: other.threshold,
      scores: namedScores(rows),
      failed: outcomesOf(rows).failed,
    };
  };
}

function reportOf(
  scored: ScoredList,
  options: EvaluateOptions,
  groupColumns: readonly string[],
  other: ComparedModel | undefined,
): Report {
  const { list, about, model, threshold, rows, run, silenceThreshold } = scored;
  const { samples, failed } = outcomesOf(rows);
  if (samples.length === 0) {
    const [first] = failed;
    throw new ListError(`No row of the list could be scored. The first: ${first?.name}: ${first?.message}`);
  }
  const findings = evaluate(samples, failed, {
    task: list.task,
    threshold,
    groupColumns,
  });
  return {
    schema_version: 2,
    veravox_version: packageVersion,
    created_at: new Date().toISOString(),
    list: about,
    model: { id: model.id, sha256: model.sha256, fingerprint: model.scoreFingerprint },
    threshold_name: typeof options.threshold === 'string' ? options.threshold : null,
    silence_threshold: silenceThreshold,
    bootstrap: defaultBootstrap,
    run,
    ...findings,
    comparison: other === undefined ? null : compareModels(list.task, samples, threshold, other),
  };
}

/** The rows with a score, and those without. */
export function outcomesOf(rows: readonly ScoredRow[]): { samples: Sample[]; failed: FailedSample[] } {
  const outcomes = rows.map(({ outcome }) => outcome);
  return {
    samples: outcomes.filter((outcome): outcome is Sample => !isFailed(outcome)),
    failed: outcomes.filter(isFailed),
  };
}

function groupColumnsOf(
  { columns, task }: LabelledList,
  wanted: readonly string[] | undefined,
): readonly string[] {
  const made = task === 'detection' ? [DURATION_COLUMN, REASON_COLUMN] : [DURATION_COLUMN];
  if (wanted === undefined) return [...usualGroupColumns.filter((name) => columns.includes(name)), ...made];
  const unknown = wanted.find((name) => !made.includes(name) && !columns.includes(name));
  if (unknown === undefined) return wanted;
  throw new ListError(`There is no column ${unknown} to group by. Columns: ${columns.join(', ')}.`);
}

const isGiven = (name: string | undefined): name is string => name !== undefined;
const isOurs = ({ outcome }: ScoredRow): boolean => isFailed(outcome) && isOurFailure(outcome);

/**
 * Half of a list may be the rest of a folder that moved.
 * @param rows in words
 */
export function refuseUnreadable(failed: readonly FailedSample[], rows: string): void {
  const unreadable = failed.filter(isOurFailure);
  const [first] = unreadable;
  if (first === undefined) return;
  throw new ListError(
    `${unreadable.length} of the ${rows} could not be analysed. The first: ${first.name}: ${first.message}`,
  );
}

/** A refused file is a finding; an unreadable file or an internal failure is a failure of the command. */
function isOurFailure({ code }: FailedSample): boolean {
  const entries: Readonly<Record<string, { readonly status: number } | undefined>> = catalogue;
  const status = entries[code]?.status;
  return status === undefined || status >= 500;
}

function collectCondition(text: string, before: readonly Condition[]): Condition[] {
  const condition = parseCondition(text);
  if (condition !== undefined) return [...before, condition];
  throw new InvalidArgumentError(`Expected a condition such as split=valid but received ${text}.`);
}

function parseDevice(text: string): Config['device'] {
  const device = settings.device.parse(text);
  if (device !== undefined) return device;
  throw new InvalidArgumentError(`Expected ${settings.device.accepts} but received ${text}.`);
}

const parseColumns = (text: string): string[] => text.split(',').map((name) => name.trim());
