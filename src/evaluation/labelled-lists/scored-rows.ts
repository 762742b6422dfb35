// SPDX-License-Identifier: Apache-2.0
import { ServiceError } from '../../base/errors/service-error.js';
import type { FailedSample } from '../figures/evaluate.js';
import type { ListedSample } from '../figures/labelled-list.js';
import type { Report } from '../figures/report.js';
import type { Sample } from '../figures/sample.js';
import type { Finding, ListPipeline } from './list-pipeline.js';

/** A row of a list, and its score or why it has none. */
export interface ScoredRow {
  readonly listed: ListedSample;
  readonly outcome: Sample | FailedSample;
}

export interface ScoredRows {
  readonly rows: readonly ScoredRow[];
  /** Null where the scores were read. */
  readonly run: Report['run'];
}

export const isFailed = (outcome: Sample | FailedSample): outcome is FailedSample => 'code' in outcome;

/** Under which code a failure is counted, and what is said of it. */
export function failureOf(error: unknown): Pick<FailedSample, 'code' | 'message'> {
  if (error instanceof ServiceError) return { code: error.key, message: error.message };
  const { code, message, syscall } = error as NodeJS.ErrnoException;
  // Node adds the call and the full path, which is no reader's business: a report gets around.
  return { code: code ?? 'UNREADABLE', message: message.split(`, ${syscall}`, 1)[0] as string };
}

/** What it took to find this out. */
export function runOf(
  pipeline: ListPipeline,
  found: readonly Finding<unknown>[],
  startedMs: number,
): Report['run'] {
  const audioS = found.reduce((sum, finding) => sum + (finding.ok ? finding.durationS : 0), 0);
  const rounded = (seconds: number): number => Math.round(seconds * 1000) / 1000;
  return {
    provider: pipeline.analyser.status().provider,
    files: found.length,
    audio_s: rounded(audioS),
    elapsed_s: rounded((performance.now() - startedMs) / 1000),
  };
}
