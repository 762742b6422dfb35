// SPDX-License-Identifier: Apache-2.0
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { loadAddon, type Preparer } from '../../base/addon/addon.js';
import { percentile } from '../../base/proportion.js';
import { forGpu } from '../models/gpu-twin.js';
import type { Model } from '../models/manifest.js';
import { ManifestError } from '../models/manifest-error.js';
import { SAMPLE_RATE_HZ, WINDOW_S, wavOf } from '../models/model-audio.js';
import { readModelFile } from '../models/model-file.js';
import type { OnnxHeader } from '../models/onnx-header.js';
import { type PipelineConfig, startPipeline } from '../pipeline/pipeline.js';
import { makePreparer } from '../prepare/recipe-check.js';
import { ModelSession, type SessionDevice } from '../scoring/model-session.js';
import { type AnswerCheck, checkAnswers, describeCheck, holds } from './known-answers.js';

export interface TimeMs {
  readonly median: number;
  readonly p95: number;
}

/** Findings about one model; undefined if they could not be made, with the cause in `problems`. */
export interface ModelCheck {
  readonly model: Model;
  readonly file?: OnnxHeader & { readonly sizeBytes: number };
  /** Of a whole 5 s window, all its inputs together, on one thread. */
  readonly featuresMs?: TimeMs;
  readonly inferenceMs?: TimeMs;
  readonly answers: readonly AnswerCheck[];
  /** Sentences; empty for a model that can be served. */
  readonly problems: readonly string[];
}

/**
 * Checks models one by one: file, recipe, graph, time per window over `runs` runs; then the known answers of the sound ones,
 * through the pipeline.
 */
export async function checkModels(
  config: PipelineConfig,
  models: readonly Model[],
  device: SessionDevice,
  runs: number,
): Promise<ModelCheck[]> {
  const checks: ModelCheck[] = [];
  for (const model of models) checks.push(await checkModel(config.modelsDir, model, device, runs));
  const sound = checks.filter(({ problems }) => problems.length === 0).map(({ model }) => model);
  if (sound.length === 0) return checks;
  const answers = await askModels({ ...config, device: device.provider }, sound);
  return checks.map((check) => {
    const own = answers.filter(({ modelId }) => modelId === check.model.id);
    const wrong = own.filter((answer) => !holds(answer)).map(describeCheck);
    return { ...check, answers: own, problems: [...check.problems, ...wrong] };
  });
}

/** The known answers of models that can be served, beside their answers here. */
export async function askModels(config: PipelineConfig, models: readonly Model[]): Promise<AnswerCheck[]> {
  const analyser = await startPipeline(config, new SharedArrayBuffer(0), { models });
  try {
    return await checkAnswers(analyser, config.modelsDir, models);
  } finally {
    await analyser.close();
  }
}

async function checkModel(
  modelsDir: string,
  entry: Model,
  device: SessionDevice,
  runs: number,
): Promise<ModelCheck> {
  const model = device.provider === 'cpu' ? entry : forGpu(entry);
  let found: Partial<ModelCheck> = {};
  const problems: string[] = [];
  // A model may have faults of several kinds, none of which hides another.
  const attempt = async <T>(step: () => T | Promise<T>): Promise<T | undefined> => {
    try {
      return await step();
    } catch (error) {
      if (error instanceof ManifestError) problems.push(...error.problems);
      else problems.push((error as Error).message);
      return undefined;
    }
  };
  const file = await attempt(() => readModelFile(modelsDir, model));
  const preparer = await attempt(() => makePreparer(loadAddon(), model));
  const session = await attempt(async () =>
    ModelSession.load(file?.source ?? (await readFile(join(modelsDir, model.file))), model, device, 1),
  );
  if (file !== undefined) found = { ...found, file: { sizeBytes: file.sizeBytes, ...file.header } };
  if (session !== undefined) {
    const times = preparer && (await attempt(() => timesOf(preparer, session, runs)));
    if (times !== undefined) found = { ...found, ...times };
    await session.release();
  }
  return { model: entry, answers: [], ...found, problems };
}

async function timesOf(preparer: Preparer, session: ModelSession, runs: number) {
  const clip = noiseClip();
  const options = { minDurationS: 1, maxDurationS: 60, silenceThresholdPercent: 100, timeLimitMs: 60_000 };
  const featuresMs: number[] = [];
  const inferenceMs: number[] = [];
  await session.warmUp();
  for (let run = 0; run < runs; run++) {
    const inputs: Float32Array[] = [];
    preparer.open(clip, options, new Int32Array(1));
    for (;;) {
      const input = new Float32Array(preparer.inputSize);
      if (preparer.next(input) === undefined) break;
      inputs.push(input);
    }
    featuresMs.push(preparer.summary().featuresMs);
    preparer.close();
    const beginMs = performance.now();
    const outputs = await session.score(inputs);
    inferenceMs.push(performance.now() - beginMs);
    if (!outputs.every(Number.isFinite)) throw new Error('The model produces numbers that are not finite.');
  }
  return { featuresMs: timeOf(featuresMs), inferenceMs: timeOf(inferenceMs) };
}

function timeOf(samplesMs: readonly number[]): TimeMs {
  const sorted = samplesMs.toSorted((a, b) => a - b);
  return { median: percentile(sorted, 0.5) as number, p95: percentile(sorted, 0.95) as number };
}

function noiseClip(): Uint8Array {
  return wavOf([Float32Array.from({ length: WINDOW_S * SAMPLE_RATE_HZ }, () => Math.random() - 0.5)]);
}
