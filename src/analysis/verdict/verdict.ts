// SPDX-License-Identifier: Apache-2.0
//
// This room turns scores into answers: verdict, confidence, reasons and warnings. All of it is pure
// functions.
import type { Prediction } from '../../base/contract/prediction.js';
import { ServiceError } from '../../base/errors/service-error.js';
import type { Analysis, ScoredWindow } from '../analyser/analyser.js';
import { findContrasts } from '../stretches/contrasts.js';
import { hasLowBitRate, type Measured, type Reason, reasonOf } from './reasons.js';
import { type Stretch, stretchesOf } from './stretches.js';
import { unheardText } from './warnings.js';

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
  /** AI-generated, in the order of the recording. */
  readonly stretches: readonly Stretch[];
}

/**
 * Six decimals: finer than the time of one sample at 48 kHz, and than the precision of a score. Everything is computed from the
 * rounded numbers, so that a client can recompute the same verdict from an answer.
 */
export const rounded = (value: number): number => Math.round(value * 1e6) / 1e6;

export const mean = (values: readonly number[]): number =>
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

/** Plain JSON, so that a verdict can be continued by another process. */
export interface VerdictSums {
  readonly windows: number;
  readonly lowBitRateWindows: number;
  readonly scoreSum: number;
  readonly confidenceSum: number;
}

/** The verdict on windows that come one after the other, of which nothing is kept but sums. */
export class RunningVerdict {
  readonly #threshold: number;
  #windows: number;
  #lowBitRateWindows: number;
  #scoreSum: number;
  #confidenceSum: number;

  /**
   * @param threshold 0..1
   * @param sums of the windows before, with the same threshold
   */
  constructor(threshold: number, sums?: VerdictSums) {
    this.#threshold = threshold;
    this.#windows = sums?.windows ?? 0;
    this.#lowBitRateWindows = sums?.lowBitRateWindows ?? 0;
    this.#scoreSum = sums?.scoreSum ?? 0;
    this.#confidenceSum = sums?.confidenceSum ?? 0;
  }

  get sums(): VerdictSums {
    return {
      windows: this.#windows,
      lowBitRateWindows: this.#lowBitRateWindows,
      scoreSum: this.#scoreSum,
      confidenceSum: this.#confidenceSum,
    };
  }

  add(window: ScoredWindow): Segment {
    const scores = window.scores.map(rounded);
    const score = mean(scores);
    const segment: Segment = {
      startS: rounded(window.startS),
      endS: rounded(window.endS),
      scores,
      confidence: rounded(confidenceOf(score, this.#threshold)),
      result: resultOf(score, this.#threshold),
    };
    this.#windows++;
    if (hasLowBitRate(window)) this.#lowBitRateWindows++;
    this.#scoreSum += score;
    this.#confidenceSum += segment.confidence;
    return segment;
  }

  /**
   * @param isMixed whether some stretch stands out from the rest
   * @throws ServiceError NO_SPEECH when no window was scored: silence is never called bona fide
   */
  finish(
    measured: Measured & Pick<Analysis, 'unheard'>,
    silenceThresholdPercent: number,
    isMixed = false,
  ): Omit<Verdict, 'segments' | 'stretches'> {
    const windows = this.#windows;
    if (windows === 0) {
      // The voice may be there.
      const unheard = (measured.unheard ?? []).map((part) => ` ${unheardText(part)}`).join('');
      throw new ServiceError('NO_SPEECH', { silenceThreshold: silenceThresholdPercent, unheard });
    }
    const score = rounded(this.#scoreSum / windows);
    const confidence = rounded(this.#confidenceSum / windows);
    const judgement = {
      windows,
      isMixed,
      lowBitRateWindows: this.#lowBitRateWindows,
      confidence,
    };
    return {
      score,
      confidence,
      result: resultOf(score, this.#threshold),
      reason: reasonOf(measured, judgement),
    };
  }
}

/**
 * @param threshold 0..1
 * @throws ServiceError NO_SPEECH when no window was scored: silence is never called bona fide
 */
export function verdictOf(analysis: Analysis, threshold: number, silenceThresholdPercent: number): Verdict {
  const verdict = new RunningVerdict(threshold);
  const segments = analysis.windows.map((window) => verdict.add(window));
  const contrasts = findContrasts(analysis);
  const global = verdict.finish(analysis, silenceThresholdPercent, contrasts.length > 0);
  return { ...global, segments, stretches: stretchesOf(analysis, global, contrasts) };
}
