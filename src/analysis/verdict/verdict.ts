// SPDX-License-Identifier: Apache-2.0

import type { Prediction } from '../../base/contract/prediction.js';
import { ServiceError } from '../../base/errors/service-error.js';
import type { Analysis, ScoredWindow } from '../analyser/analyser.js';
import { type Reason, reasonOf } from './reasons.js';

export type Result = Prediction['global']['result'];

export interface Segment {
  readonly startS: number;
  readonly endS: number;
  readonly scores: readonly number[];
  readonly confidence: number;
  readonly result: Result;
}

export interface Verdict {
  readonly score: number;
  readonly confidence: number;
  readonly result: Result;
  readonly reason: Reason | null;
  readonly segments: readonly Segment[];
}

/**
 * Six decimals: finer than the time of one sample at 48 kHz, and than what a score means. Everything is computed from
 * the rounded numbers, so that a client can recompute the same verdict from an answer.
 */
export const rounded = (value: number): number => Math.round(value * 1e6) / 1e6;

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

export const resultOf = (score: number, threshold: number): Result =>
  score >= threshold ? 'spoofed' : 'bonafide';

/**
 * Distance of a score from the threshold as a share of the largest distance on that side: 0 on the threshold, 1 at the
 * end of the scale. With the threshold at an end of the scale that side has no length; a score there lies on the
 * threshold, so it is 0.
 */
export function confidenceOf(score: number, threshold: number): number {
  const distance = Math.abs(score - threshold);
  return distance === 0 ? 0 : distance / (score >= threshold ? 1 - threshold : threshold);
}

function segmentOf(window: ScoredWindow, threshold: number): Segment {
  const scores = window.scores.map(rounded);
  const score = mean(scores);
  return {
    startS: rounded(window.startS),
    endS: rounded(window.endS),
    scores,
    confidence: rounded(confidenceOf(score, threshold)),
    result: resultOf(score, threshold),
  };
}

/**
 * @param threshold 0..1
 * @throws ServiceError NO_SPEECH when no window was scored: silence is never called bona fide
 */
export function verdictOf(analysis: Analysis, threshold: number, silenceThresholdPercent: number): Verdict {
  if (analysis.windows.length === 0) {
    throw new ServiceError('NO_SPEECH', { silenceThreshold: silenceThresholdPercent });
  }
  const segments = analysis.windows.map((window) => segmentOf(window, threshold));
  const score = rounded(mean(segments.map((segment) => mean(segment.scores))));
  const confidence = rounded(mean(segments.map((segment) => segment.confidence)));
  const spoofedWindows = segments.filter((segment) => segment.result === 'spoofed').length;
  const judgement = { spoofedWindows, bonafideWindows: segments.length - spoofedWindows, confidence };
  return {
    score,
    confidence,
    result: resultOf(score, threshold),
    reason: reasonOf(analysis, judgement),
    segments,
  };
}
