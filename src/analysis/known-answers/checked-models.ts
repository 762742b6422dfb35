// SPDX-License-Identifier: Apache-2.0
import type { PipelineStatus } from '../analyser/analyser.js';
import type { FullAnalyser } from '../analyser/recording.js';
import { readManifest } from '../models/manifest.js';
import { type PipelineConfig, type PipelineOptions, startPipeline } from '../pipeline/pipeline.js';
import { type AnswerCheck, checkAnswers, holds } from './known-answers.js';

/** Known answers of each model that must hold before requests are answered. */
export const ANSWERS_AT_START = 1;

/** Warm models, and their wrong answers to the known clips. */
export interface CheckedModels {
  readonly analyser: FullAnalyser;
  /** Answers that are too far from the known ones; requests are sent elsewhere while there is one. */
  readonly wrongAnswers: readonly AnswerCheck[];
}

export interface CheckedStatus extends PipelineStatus {
  readonly wrongAnswers: readonly AnswerCheck[];
}

/** Starts a pipeline and asks each of its models for at most `answersPerModel` of its known answers. */
export async function startChecked(
  config: PipelineConfig,
  arena: SharedArrayBuffer,
  answersPerModel: number,
  options: PipelineOptions = {},
): Promise<CheckedModels> {
  const models = options.models ?? (await readManifest(config.modelsDir)).models;
  const analyser = await startPipeline(config, arena, { ...options, models });
  const checks = await checkAnswers(analyser, config.modelsDir, models, answersPerModel);
  return { analyser, wrongAnswers: checks.filter((check) => !holds(check)) };
}

/** Ready means: warm, and right about the known clips. */
export function checkedStatus({ analyser, wrongAnswers }: CheckedModels): CheckedStatus {
  const status = analyser.status();
  return { ...status, ready: status.ready && wrongAnswers.length === 0, wrongAnswers };
}
