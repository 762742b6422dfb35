// SPDX-License-Identifier: Apache-2.0
import { access, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { ScoringModelStatus } from '../../analysis/analyser/analyser.js';
import { ANSWERS_AT_START, type CheckedStatus } from '../../analysis/known-answers/checked-models.js';
import { readFigures } from '../../analysis/models/figures-file.js';
import { type Model, readManifest } from '../../analysis/models/manifest.js';
import { SAMPLE_RATE_HZ } from '../../analysis/models/model-audio.js';
import { scoreFingerprintOf } from '../../analysis/models/score-fingerprint.js';
import { UNCERTAIN_BELOW_CONFIDENCE } from '../../analysis/verdict/reasons.js';
import type { OperatingPoints } from '../../state/operating-points/operating-points.js';
import type { AdminAnalysisFacts } from '../contract/analysis-facts.js';
import type { AdminModel } from '../contract/models.js';
import { modelFigures } from './model-figures.js';

type Served = ScoringModelStatus & { readonly operatingPoint: number };

/** The sources of facts about models: their status, and the files beside them. */
export interface ModelSources {
  readonly modelsDir: string;
  readonly status: CheckedStatus;
  readonly points: OperatingPoints;
}

/** Detectors first. */
export const servedModels = ({ detectors, speakerModels }: CheckedStatus): readonly Served[] => [
  ...detectors,
  ...speakerModels,
];

export async function modelBodies(sources: ModelSources): Promise<AdminModel[]> {
  const entryOf = await entriesOf(sources.modelsDir);
  return Promise.all(
    servedModels(sources.status).map((served) => modelBody(served, entryOf(served), sources)),
  );
}

/** The facts about detectors that a page for requests needs. */
export async function detectorFacts({
  modelsDir,
  status,
  points,
}: ModelSources): Promise<AdminAnalysisFacts['detectors']> {
  const entryOf = await entriesOf(modelsDir);
  return status.detectors.map((served) => ({
    id: served.id,
    aliases: [...served.aliases],
    uncertain_below: uncertainBelow(entryOf(served)),
    operating_points: points
      .ofModel(served)
      .filter(({ isUsable }) => isUsable)
      .map(({ point: { name, threshold } }) => ({ name, threshold })),
  }));
}

/** The entry of a served model; undefined if the manifest has changed since. */
async function entriesOf(modelsDir: string): Promise<(served: Served) => Model | undefined> {
  // A manifest that was broken since the models were loaded says nothing of them.
  const { models } = await readManifest(modelsDir).catch(() => ({ models: [] }));
  const entries = new Map(models.map((model) => [model.id, model]));
  return ({ id, scoreFingerprint }) => {
    const entry = entries.get(id);
    return entry !== undefined && scoreFingerprintOf(entry) === scoreFingerprint ? entry : undefined;
  };
}

const uncertainBelow = (entry: Model | undefined): number | null =>
  entry === undefined ? null : (abstentionOf(entry)?.confidence_below ?? UNCERTAIN_BELOW_CONFIDENCE);

const abstentionOf = (entry: Model | undefined) =>
  entry?.task === 'detection' ? entry.abstention : undefined;

async function modelBody(
  served: Served,
  entry: Model | undefined,
  sources: ModelSources,
): Promise<AdminModel> {
  const { modelsDir, status, points } = sources;
  const { id, aliases, sha256, scoreFingerprint, operatingPoint } = served;
  const figures = await readFigures(modelsDir, id, scoreFingerprint);
  const files = entry === undefined ? [] : [entry.file, ...(entry.weights_file ? [entry.weights_file] : [])];
  return {
    id,
    aliases: [...aliases],
    task: status.detectors.some((detector) => detector.id === id) ? 'detection' : 'speaker',
    file: { name: entry?.file ?? null, sha256, bytes: await sizeOf(modelsDir, files) },
    score_fingerprint: scoreFingerprint,
    licence: entry?.licence ?? null,
    window_s: entry === undefined ? null : entry.window_samples / SAMPLE_RATE_HZ,
    calibration: entry ? scaleAndBias(entry) : null,
    operating_point: operatingPoint,
    operating_points: points
      .ofModel(served)
      .map(({ point: { name, threshold }, isUsable }) => ({ name, threshold, usable: isUsable })),
    abstention: abstentionOf(entry) ?? null,
    known_answers: entry === undefined ? [] : knownAnswers(entry, status),
    figures: modelFigures(entry?.metrics, figures),
    has_card: await access(cardFile(modelsDir, id)).then(
      () => true,
      () => false,
    ),
  };
}

const scaleAndBias = ({ calibration: { scale, bias } }: Model) => ({ scale, bias });

function knownAnswers(
  { id, known_answers = [] }: Model,
  { wrongAnswers }: CheckedStatus,
): AdminModel['known_answers'] {
  return known_answers.map((answer, i) => {
    const isWrong = wrongAnswers.some(({ modelId, file }) => modelId === id && file === answer.file);
    return {
      file: answer.file,
      expected: [...('scores' in answer ? answer.scores : answer.embedding)],
      tolerance: answer.tolerance ?? null,
      holds: isWrong ? false : i < ANSWERS_AT_START ? true : null,
    };
  });
}

async function sizeOf(folder: string, files: readonly string[]): Promise<number | null> {
  if (files.length === 0) return null;
  const sizes = await Promise.all(files.map((file) => stat(join(folder, file)))).catch(() => undefined);
  return sizes?.reduce((sum, { size }) => sum + size, 0) ?? null;
}

const cardFile = (modelsDir: string, id: string): string => join(modelsDir, `${id}.md`);

/** Markdown; undefined without one. @param id of a served model: its form makes it a safe name of a file */
export const readCard = (modelsDir: string, id: string): Promise<string | undefined> =>
  readFile(cardFile(modelsDir, id), 'utf8').catch(() => undefined);
