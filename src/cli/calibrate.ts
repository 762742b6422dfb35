// SPDX-License-Identifier: Apache-2.0
import { type Command, InvalidArgumentError, Option } from 'commander';
import { loadConfig } from '../base/config/load-config.js';
import {
  OPERATING_POINT_NAME,
  OPERATING_POINT_NAME_EXPECTED,
} from '../base/contract/operating-point-name.js';
import { joined, type Shown, shown } from '../base/errors/shown-text.js';
import { samplesToShow } from '../base/proportion.js';
import { evaluate } from '../evaluation/figures/evaluate.js';
import { ListError } from '../evaluation/figures/labelled-list.js';
import type { ErrorShare, Findings, Share } from '../evaluation/figures/report.js';
import { type ErrorTarget, thresholdFor } from '../evaluation/figures/threshold-search.js';
import {
  type ListOptions,
  openList,
  refuseUnused,
  type ScoredList,
} from '../evaluation/labelled-lists/scored-list.js';
import { withDatabase } from '../state/database/open-database.js';
import type { MeasuredErrors, OperatingPoint } from '../state/operating-points/operating-point.js';
import { OperatingPointTable } from '../state/operating-points/operating-point-table.js';
import { noteAdminAct } from '../state/records/admin-act.js';
import { within } from './arguments.js';
import { addListOptions, outcomesOf, refuseUnreadable } from './evaluate.js';
import { print, tell } from './output.js';
import { showListProgress } from './progress-line.js';
import { errorNames, percent, rowNames } from './report-words.js';

interface CalibrateOptions extends Omit<ListOptions, 'threshold'> {
  readonly name: string;
  readonly targetFpr?: number;
  readonly targetFnr?: number;
}

/** With an upper bound over this many times the target, the list does not support the target. */
const LOOSE_BOUND = 2;

export function addCalibrateCommand(program: Command): void {
  const command = program
    .command('calibrate <list>')
    .description('Find the threshold with a given error rate on a labelled list, and save it under a name.');
  addListOptions(command)
    .requiredOption('--name <name>', 'name of the operating point in requests', parseName)
    .addOption(
      new Option(
        '--target-fpr <share>',
        'share of human clips called spoofed, or of strangers accepted, 0 to 1',
      )
        .argParser(within(0, 1))
        .conflicts('targetFnr'),
    )
    .option(
      '--target-fnr <share>',
      'share of AI-generated clips called human, or of genuine speakers rejected, 0 to 1',
      within(0, 1),
    )
    .action(calibrate);
}

async function calibrate(file: string, options: CalibrateOptions, command: Command): Promise<void> {
  const target = targetOf(options, command);
  const config = loadConfig(process.env);
  // Finds damage and tables of an earlier version now, before the result of a long run is lost.
  await withDatabase(config, (database) => new OperatingPointTable(database).all());
  const opened = await openList(file, options);
  refuseUnused(opened.list, options);
  const scored = await opened.score(showListProgress);
  const { samples, failed } = outcomesOf(scored.rows);
  const { task } = scored.list;
  refuseUnreadable(failed, rowNames[task]);
  const threshold = search(target, scored, samples);
  const findings = evaluate(samples, failed, { task, threshold, groupColumns: [] });
  const point = pointOf(options.name, target, threshold, scored, findings);
  const replaced = await withDatabase(config, (database) => new OperatingPointTable(database).save(point));
  const { name, model, threshold: value } = point;
  await noteAdminAct(config, {
    event: 'operating_point_set',
    name,
    model,
    threshold: value,
  });
  print(describe(point, scored, findings));
  const { rate } = target;
  const measured = findings.at_threshold[rate];
  if (measured !== null) warnOfDoubt(target, measured, findings);
  if (replaced !== undefined) {
    tell(shown`It replaces the operating point of ${replaced.created_at}, at ${replaced.threshold}.\n`);
  }
}

function targetOf({ targetFpr, targetFnr }: CalibrateOptions, command: Command): ErrorTarget {
  if (targetFpr !== undefined) return { rate: 'fpr', value: targetFpr };
  if (targetFnr !== undefined) return { rate: 'fnr', value: targetFnr };
  return command.error('error: expected --target-fpr or --target-fnr');
}

function search(
  target: ErrorTarget,
  { list }: ScoredList,
  samples: readonly { readonly score: number; readonly isPositive: boolean }[],
): number {
  const isConcerned = target.rate === 'fnr';
  if (!samples.some(({ isPositive }) => isPositive === isConcerned)) {
    throw new ListError(`The list has no scored ${rowNames[list.task]} of the class in the target.`);
  }
  const threshold = thresholdFor(
    target,
    samples.map(({ score }) => score),
    samples.map(({ isPositive }) => isPositive),
  );
  if (threshold !== undefined) return threshold;
  throw new ListError(`No threshold reaches the target: too many ${rowNames[list.task]} have a score of 1.`);
}

const measuredOf = (share: ErrorShare | null): MeasuredErrors | null => {
  if (share === null) return null;
  const { count, of, value, interval_95 } = share;
  return { count, of, value, interval_95 };
};

function pointOf(
  name: string,
  target: ErrorTarget,
  threshold: number,
  { about, model, silenceThreshold }: ScoredList,
  { at_threshold }: Findings,
): OperatingPoint {
  return {
    name,
    model: model.id,
    model_sha256: model.sha256,
    fingerprint: model.scoreFingerprint,
    threshold,
    target,
    measured: { fpr: measuredOf(at_threshold.fpr), fnr: measuredOf(at_threshold.fnr) },
    list: about.file,
    where: about.where,
    silence_threshold: silenceThreshold,
    created_at: new Date().toISOString(),
  };
}

const described = (name: string, share: Share & Pick<ErrorShare, 'interval_95_units'>): Shown => {
  const [low, high] = share.interval_95;
  const [lowUnits, highUnits] = share.interval_95_units;
  const interval = `95 % interval ${percent(low, 2)} to ${percent(high, 2)}`;
  const units = `over speakers and systems ${percent(lowUnits, 2)} to ${percent(highUnits, 2)}`;
  return shown`  ${name}: ${percent(share.value, 2)} (${share.count} of ${share.of}), ${interval}, ${units}\n`;
};

function describe(
  { name, model, threshold }: OperatingPoint,
  { list }: ScoredList,
  findings: Findings,
): Shown {
  const { fpr, fnr } = findings.at_threshold;
  const names = errorNames[list.task];
  const { failed } = findings.counts;
  const use =
    list.task === 'detection'
      ? shown`Requests use it with threshold=${name}, on running servers within a second.\n`
      : shown`A server uses it if VERAVOX_MATCH_THRESHOLD=${name}; running ones with this setting do so within a second.\n`;
  return joined([
    shown`${name} of ${model}: ${threshold}\n`,
    fpr ? described(names.fpr, fpr) : '',
    fnr ? described(names.fnr, fnr) : '',
    failed > 0
      ? shown`  ${failed} ${rowNames[list.task]} have no score and do not count: see veravox evaluate.\n`
      : '',
    use,
  ]);
}

/** A threshold from few samples may miss the target on other recordings. */
function warnOfDoubt({ value }: ErrorTarget, measured: ErrorShare, { task }: Findings): void {
  const upper = Math.max(measured.interval_95[1], measured.interval_95_units[1]);
  if (upper <= LOOSE_BOUND * value) return;
  const needed = value === 0 ? 'no number of' : `at least ${samplesToShow(value)}`;
  const doubt = `the list is too small, or its ${rowNames[task]} are too similar, to support the target of ${percent(value, 2)}`;
  tell(
    shown`Warning: ${doubt}: the true rate may be as high as ${percent(upper, 2)}. Even without any error, ${needed} independent ${rowNames[task]} of that class are needed to show it; there are ${measured.of}.\n`,
  );
}

function parseName(text: string): string {
  if (OPERATING_POINT_NAME.test(text)) return text;
  throw new InvalidArgumentError(`Expected ${OPERATING_POINT_NAME_EXPECTED}, but received ${text}.`);
}
