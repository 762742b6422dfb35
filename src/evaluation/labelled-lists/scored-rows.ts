// SPDX-License-Identifier: Apache-2.0
import type { Analyser } from '../../analysis/analyser/analyser.js';
import type { ArenaRegion } from '../../analysis/memory/arena.js';
import type { PipelineOptions } from '../../analysis/pipeline/pipeline.js';
import type { Config } from '../../base/config/options.js';
import { messageOf } from '../../base/errors/message-of.js';
import { ServiceError } from '../../base/errors/service-error.js';
import type { FailedSample } from '../figures/evaluate.js';
import type { ListedSample } from '../figures/labelled-list.js';
import type { Report } from '../figures/report.js';
import type { Sample } from '../figures/sample.js';
import { type Finding, ListPipeline, type Recording, type ShowProgress } from './list-pipeline.js';

/** A row of a list, and its score or why it has none. */
export interface ScoredRow {
  readonly listed: ListedSample;
  readonly outcome: Sample | FailedSample;
}

export interface ScoredRows {
  readonly rows: readonly ScoredRow[];
  /** Null if the scores were read. */
  readonly run: Report['run'];
}

export const isFailed = (outcome: Sample | FailedSample): outcome is FailedSample => 'code' in outcome;

/** The code under which a failure is counted, and its message. */
export function failureOf(error: unknown): Pick<FailedSample, 'code' | 'message'> {
  if (error instanceof ServiceError) return { code: error.key, message: error.message };
  const { code = 'UNREADABLE', syscall, path } = error as NodeJS.ErrnoException;
  // Without the call and the full path, which is no reader's business: a report gets around.
  return { code, message: messageOf(error, path).split(`, ${syscall}`, 1)[0] as string };
}

/**
 * Analyses the recordings of a list with a pipeline of their own.
 * @param options the models, if not those of the manifest
 * @returns the outcome of each, in their order, and the cost of finding it
 */
export async function analyseRecordings<Result>(
  config: Config,
  recordings: readonly Recording[],
  work: (
    analyser: Analyser,
    region: ArenaRegion,
    at: number,
  ) => Promise<{ result: Result; durationS: number }>,
  showProgress: ShowProgress,
  options: Pick<PipelineOptions, 'models'> = {},
): Promise<{ found: readonly Finding<Result>[]; run: Report['run'] }> {
  const pipeline = await ListPipeline.start(config, recordings, new Map(), options);
  try {
    const startedMs = performance.now();
    const found = await pipeline.analyse(
      recordings,
      (region, at) => work(pipeline.analyser, region, at),
      showProgress,
    );
    return { found, run: runOf(pipeline, found, startedMs) };
  } finally {
    await pipeline.close();
  }
}

function runOf(pipeline: ListPipeline, found: readonly Finding<unknown>[], startedMs: number): Report['run'] {
  const audioS = found.reduce((sum, finding) => sum + (finding.ok ? finding.durationS : 0), 0);
  const rounded = (seconds: number): number => Math.round(seconds * 1000) / 1000;
  return {
    provider: pipeline.analyser.status().provider,
    files: found.length,
    audio_s: rounded(audioS),
    elapsed_s: rounded((performance.now() - startedMs) / 1000),
  };
}
