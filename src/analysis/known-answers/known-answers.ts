// SPDX-License-Identifier: Apache-2.0
//
// This room checks that models still give their recorded answers to the clips in the manifest. The server
// is ready only if they do, and a reload takes new models only after this check. `veravox models record`
// writes the answers.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DEFAULT_SILENCE_THRESHOLD_PERCENT, MIN_DURATION_S } from '../../base/contract/limits.js';
import type { Analyser } from '../analyser/analyser.js';
import { forGpu } from '../models/gpu-twin.js';
import type { Model, Tolerances } from '../models/manifest.js';
import type { Provider } from '../scoring/devices.js';

/**
 * Tolerance for a score, 0..1, or a number of an embedding of length 1, against the known value, which was recorded on a CPU.
 * GPUs round factors to 11 bits (TF32). docs/models.md has the measurements.
 */
export const tolerances: Readonly<Record<Provider, number>> = { cpu: 1e-4, cuda: 2e-3, webgpu: 2e-3 };

/** Numbers kept of an embedding. They tell as much as all: no fault in a recipe changes one direction only. */
const knownEmbeddingNumbers = 16;

// No request waits for these answers: the limits that the operator sets on requests say nothing about the models. On a CPU one
// of a billion parameters takes half a minute per window and thread.
const answerTimeoutMs = 900_000;

/** A model's answer for a clip, and the known one. */
export interface AnswerCheck {
  readonly modelId: string;
  /** The clip, as the manifest names it. */
  readonly file: string;
  readonly expected: readonly number[];
  /** Empty if the analysis failed. */
  readonly measured: readonly number[];
  readonly tolerance: number;
  /** Why there is no answer. */
  readonly error?: string;
}

/** The largest distance of two numbers; infinite if one of the answers has more of them, or one is not a number. */
export function differenceOf({ expected, measured }: AnswerCheck): number {
  if (expected.length !== measured.length) return Number.POSITIVE_INFINITY;
  const largest = Math.max(...expected.map((value, i) => Math.abs(value - (measured[i] as number))));
  return Number.isNaN(largest) ? Number.POSITIVE_INFINITY : largest;
}

export function holds(check: AnswerCheck): boolean {
  return differenceOf(check) <= check.tolerance;
}

/**
 * A model's answer for a clip, by the same way as a request: the scores of all windows, or the first numbers of the embedding.
 * The analysis rejects as requests do.
 */
export async function answerOf(analyser: Analyser, model: Model, clip: Uint8Array): Promise<number[]> {
  const memory = new SharedArrayBuffer(clip.length);
  new Uint8Array(memory).set(clip);
  const request = {
    region: { offset: 0, length: clip.length },
    memory,
    model: model.id,
    silenceThresholdPercent: DEFAULT_SILENCE_THRESHOLD_PERCENT,
    minDurationS: MIN_DURATION_S,
    maxDurationS: 600,
    longTimeoutMs: answerTimeoutMs,
    signal: new AbortController().signal,
  };
  if (model.task === 'detection') {
    const { windows } = await analyser.analyse(request);
    return windows.flatMap(({ scores }) => scores);
  }
  const { embedding = [] } = await analyser.embed(request);
  return Array.from(embedding.slice(0, knownEmbeddingNumbers));
}

/** The tolerance of each number of an answer if `provider` runs the model. */
export function toleranceFor(provider: Provider, { tolerance, cuda_tolerance }: Tolerances): number {
  const own = provider === 'cpu' ? tolerance : (cuda_tolerance ?? tolerance);
  return own ?? tolerances[provider];
}

/**
 * Asks the models about the clips whose answers are known, at most `answersPerModel` of each. Never rejects: a failure is an
 * answer that does not hold.
 */
export function checkAnswers(
  analyser: Analyser,
  modelsDir: string,
  models: readonly Model[],
  answersPerModel = Number.POSITIVE_INFINITY,
): Promise<AnswerCheck[]> {
  const { provider } = analyser.status();
  return Promise.all(
    models.flatMap((model) =>
      ((provider === 'cpu' ? model : forGpu(model)).known_answers ?? [])
        .slice(0, answersPerModel)
        .map(async (answer) => {
          const isScore = 'scores' in answer;
          const check = {
            modelId: model.id,
            file: answer.file,
            expected: isScore ? answer.scores : answer.embedding,
            tolerance: toleranceFor(provider, answer),
          };
          try {
            const measured = await answerOf(analyser, model, await readFile(join(modelsDir, answer.file)));
            return {
              ...check,
              measured: measured.slice(0, isScore ? measured.length : check.expected.length),
            };
          } catch (error) {
            return { ...check, measured: [], error: (error as Error).message };
          }
        }),
    ),
  );
}

const rounded = (numbers: readonly number[]): string =>
  numbers.map((number) => Number(number.toFixed(6))).join(', ');

/** A sentence for people about an answer that does not hold. */
export function describeCheck(check: AnswerCheck): string {
  const { modelId, file, expected, measured, tolerance, error } = check;
  if (error !== undefined) return `${modelId} could not answer for ${file}: ${error}`;
  return `${modelId} moved by ${differenceOf(check).toPrecision(2)} for ${file}, which is more than ${tolerance}: expected ${rounded(expected)} but measured ${rounded(measured)}`;
}
