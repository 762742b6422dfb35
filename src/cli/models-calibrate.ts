// SPDX-License-Identifier: Apache-2.0
import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Command } from 'commander';
import { type Entry, recordAnswers } from '../analysis/known-answers/record.js';
import { type DetectionModel, type Model, manifestPath, readManifest } from '../analysis/models/manifest.js';
import { recalibrated } from '../analysis/models/recalibrated.js';
import { scoreFingerprintOf } from '../analysis/models/score-fingerprint.js';
import type { Config } from '../base/config/options.js';
import { DEFAULT_SILENCE_THRESHOLD_PERCENT } from '../base/contract/limits.js';
import { answersTo } from '../base/contract/model-ids.js';
import { joined, type Shown, shown } from '../base/errors/shown-text.js';
import {
  bothClassesAlike,
  calibratedScore,
  fitCalibration,
  type ScaleAndBias,
  type WeightedErrors,
  weightedFigures,
} from '../evaluation/figures/calibration-fit.js';
import { MIN_GROUPS } from '../evaluation/figures/few-groups.js';
import type { Condition } from '../evaluation/figures/labelled-list.js';
import { localConfig } from '../evaluation/labelled-lists/local-files.js';
import { type UncalibratedList, uncalibratedClips } from '../evaluation/labelled-lists/uncalibrated-clips.js';
import { noteAdminAct } from '../state/records/admin-act.js';
import { addScoringOptions, refuseUnreadable } from './evaluate.js';
import { print, tell } from './output.js';
import { showListProgress } from './progress-line.js';
import { errorNames, percent } from './report-words.js';
import { textTable } from './text-table.js';

interface CommandOptions {
  readonly modelsDir?: string;
  readonly where: readonly Condition[];
  readonly device?: Config['device'];
  readonly silenceThreshold?: number;
  readonly dryRun?: boolean;
}

/** With fewer clips of a class, chance decides on the calibration. */
const FEW_CLIPS = 50;

export function addCalibrateModelCommand(command: Command): void {
  addScoringOptions(
    command
      .description("Fit a detector's calibration on a labelled list, and write it into the manifest.")
      .argument('<id>', 'detector, by its id or an alias')
      .argument('<list>', 'clips, as for veravox evaluate'),
  )
    .option('--dry-run', 'print what would change, and write nothing')
    .action(calibrateModel);
}

async function calibrateModel(name: string, file: string, options: CommandOptions): Promise<void> {
  const config = localConfig(options);
  const { modelsDir } = config;
  const model = await detectorIn(modelsDir, name);
  const { where, silenceThreshold = DEFAULT_SILENCE_THRESHOLD_PERCENT } = options;
  const list = await uncalibratedClips(file, where, model, silenceThreshold, config, showListProgress);
  refuseUnreadable(list.failed, 'clips');
  const fitted = fitCalibration(list.clips, model.calibration.scale < 0);
  const { model: changed, notes } = recalibrated(model, fitted);
  print(describe(model, fitted, list, path.basename(file)));
  for (const warning of warningsOf(list)) tell(shown`Warning: ${warning}\n`);
  const allNotes = [...notes, ...fileNotes(modelsDir, model.id)].map((note) => shown`- ${note}\n`);
  print(shown`\n${joined(allNotes)}\n`);
  if (options.dryRun === true) {
    print(shown`Dry run: nothing was written.\n`);
    return;
  }
  const [recorded] = await recordAnswers(config, [model.id], {}, (entry) =>
    changedEntry(entry, model, changed),
  );
  const { scale, bias } = fitted;
  await noteAdminAct(config, { event: 'model_calibrated', model: model.id, scale, bias });
  const answers = counted(recorded?.known_answers?.length ?? 0, 'clip');
  print(
    shown`Written to ${manifestPath(modelsDir)}, with the answers for ${answers}.
Operating points that veravox calibrate saved for this model belong to the calibration before: find them again.
A running server goes on with the calibration before until it is reloaded or restarted.
`,
  );
}

async function detectorIn(modelsDir: string, name: string): Promise<DetectionModel> {
  const { models } = await readManifest(modelsDir);
  const model: Model | undefined = models.find((candidate) => answersTo(candidate, name));
  if (model === undefined) {
    throw new Error(`${manifestPath(modelsDir)}: there is no model with the id or alias ${name}.`);
  }
  if (model.task === 'detection') return model;
  throw new Error(
    `${model.id} is a speaker model; only detectors can be calibrated on a list. For a threshold of similarity use veravox calibrate.`,
  );
}

/** The manifest may have changed while the list was scored, which takes hours for a large model. */
function changedEntry(entry: Entry, scored: DetectionModel, changed: DetectionModel): Entry {
  if (scoreFingerprintOf(entry as unknown as Model) !== scoreFingerprintOf(scored)) {
    throw new Error(
      `The weights, the recipe or the calibration of ${scored.id} changed while the list was scored: calibrate again.`,
    );
  }
  const { abstention: _, ...rest } = entry;
  const { calibration, operating_point, vectors, metrics } = changed;
  return { ...rest, calibration, operating_point, ...(vectors && { vectors }), metrics };
}

/** Files beside the manifest with measurements under the calibration before. */
function fileNotes(modelsDir: string, id: string): string[] {
  const notes = {
    [`${id}.figures.json`]: 'no longer counts, since it belongs to the calibration before.',
    [`${id}.md`]: 'speaks of the calibration before.',
  };
  return Object.entries(notes).flatMap(([name, note]) =>
    existsSync(path.join(modelsDir, name)) ? [`${name} ${note}`] : [],
  );
}

const groupsOf = ({ clips }: UncalibratedList, isPositive: boolean): number =>
  new Set(clips.flatMap((clip) => (clip.isPositive === isPositive && clip.group !== '' ? [clip.group] : [])))
    .size;
const countOf = ({ clips }: UncalibratedList, isPositive: boolean): number =>
  clips.filter((clip) => clip.isPositive === isPositive).length;
const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

function describe(
  { id, calibration }: DetectionModel,
  fitted: ScaleAndBias,
  list: UncalibratedList,
  file: string,
): Shown {
  const { clips, failed } = list;
  const isPositive = clips.map((clip) => clip.isPositive);
  const weights = bothClassesAlike(clips);
  const plain = bothClassesAlike(clips.map((clip) => ({ ...clip, group: '' })));
  const figures = (of: ScaleAndBias, weighted: Float64Array): WeightedErrors =>
    weightedFigures(
      clips.map((clip) => calibratedScore(clip, of)),
      isPositive,
      weighted,
    );
  const names = errorNames.detection;
  const rows = (weighted: Float64Array, suffix: string): string[][] => {
    const [before, after] = [figures(calibration, weighted), figures(fitted, weighted)];
    const row = (name: string, of: (errors: WeightedErrors) => number): string[] => [
      `${name}${suffix}`,
      percent(of(before)),
      percent(of(after)),
    ];
    return [
      row(`${names.fpr} at 0.5`, ({ fpr }) => fpr),
      row(`${names.fnr} at 0.5`, ({ fnr }) => fnr),
      row('equal error rate', ({ eer }) => eer),
      row('expected calibration error', ({ expectedCalibrationError }) => expectedCalibrationError),
    ];
  };
  const areAlike = weights.some((weight, i) => Math.abs(weight - (plain[i] as number)) > 1e-12);
  const failures = failed.length === 0 ? '' : `; ${counted(failed.length, 'clip')} without a score left out`;
  const change = (name: 'scale' | 'bias'): string => `${name} ${calibration[name]} -> ${fitted[name]}`;
  const parts = [
    shown`${id}  ${file}  ${countOf(list, false)} bonafide of ${counted(groupsOf(list, false), 'source')}, ${countOf(list, true)} spoof of ${counted(groupsOf(list, true), 'system')}${failures}\n`,
    shown`calibration: ${change('scale')}, ${change('bias')}\n`,
    textTable(
      ['figure', '>before', '>after'],
      [...rows(plain, ''), ...(areAlike ? rows(weights, ', systems and sources alike') : [])],
    ),
    shown`On the clips that it was fitted on: others do somewhat worse. Measure on other ones with veravox evaluate.\n`,
  ];
  return joined(parts, '\n');
}

function warningsOf(list: UncalibratedList): string[] {
  return [false, true].flatMap((isPositive) => {
    const [label, column] = isPositive ? ['spoof', 'system'] : ['bonafide', 'source'];
    const [clips, groups] = [countOf(list, isPositive), groupsOf(list, isPositive)];
    return [
      ...(clips < FEW_CLIPS
        ? [
            `only ${counted(clips, 'clip')} with the label ${label}; with fewer than ${FEW_CLIPS}, other clips may come out quite differently.`,
          ]
        : []),
      ...(groups >= MIN_GROUPS
        ? []
        : list.columns.includes(column)
          ? [
              `the ${label} clips are of ${counted(groups, column)}; with fewer than ${MIN_GROUPS}, others may come out quite differently.`,
            ]
          : [`the list has no column ${column}: ${label} clips weigh the same, wherever they come from.`]),
    ];
  });
}
