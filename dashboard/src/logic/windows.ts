// SPDX-License-Identifier: Apache-2.0
import { mean } from './mean.js';

export type Result = 'spoofed' | 'bonafide';

/** A stretch of a recording, in seconds from its start. */
export interface Stretch {
  readonly startS: number;
  readonly endS: number;
}

/** A window with its verdict. */
export interface ScoredWindow extends Stretch {
  /** Mean of its scores, 0..1. */
  readonly score: number;
  /** 0..1 */
  readonly confidence: number;
  readonly result: Result;
}

/** A stretch of an answer. */
export interface AnswerStretch {
  readonly start: number;
  readonly end: number;
  readonly score: number;
  /** Null for a recording that is AI-generated as a whole. */
  readonly strength: number | null;
}

/** A segment of any answer; without scores for large files. */
export interface AnswerSegment {
  readonly start: number;
  readonly end: number;
  readonly scores?: readonly number[];
  readonly confidence: number;
  readonly result: Result;
}

/** The score from which a confidence follows: confidence is the share of the way from the threshold to the end of the scale. */
export const scoreOf = (confidence: number, result: Result, threshold: number): number =>
  result === 'spoofed' ? threshold + confidence * (1 - threshold) : threshold - confidence * threshold;

/**
 * The windows of an answer.
 * @param threshold that of the request, from which scores follow if the answer has none
 */
export const windowsOf = (segments: readonly AnswerSegment[], threshold: number): ScoredWindow[] =>
  segments.map(({ start, end, scores, confidence, result }) => ({
    startS: start,
    endS: end,
    score: scores === undefined ? scoreOf(confidence, result, threshold) : mean(scores),
    confidence,
    result,
  }));

export interface SkippedStretch extends Stretch {
  /** 0..100 */
  readonly nonSpeechPercent: number;
}

const SKIPPED =
  /^Not analysed from (\d+(?:\.\d+)?) s to (\d+(?:\.\d+)?) s: (\d+(?:\.\d+)?) percent is not speech/;

/** The stretches that warnings tell of: answers have no field for them. */
export const skippedIn = (warnings: readonly string[]): SkippedStretch[] =>
  warnings.flatMap((warning) => {
    const [, startS, endS, percent] = SKIPPED.exec(warning) ?? [];
    if (startS === undefined) return [];
    return [{ startS: Number(startS), endS: Number(endS), nonSpeechPercent: Number(percent) }];
  });
