// SPDX-License-Identifier: Apache-2.0
import { mean } from './mean.js';
import type { AnswerStretch, Result, ScoredWindow, Stretch } from './windows.js';

/** A window's scores, whatever the threshold. */
export interface ScoredStretch extends Stretch {
  readonly scores: readonly number[];
}

/** The answer that the recording got, and when its model is uncertain. */
export interface Known {
  readonly reason: string | null;
  /** Global confidences below are `uncertain`; undefined if the server does not say. */
  readonly uncertainBelow: number | undefined;
  /** Whether a stretch stands out from the rest, whatever the threshold. */
  readonly isMixed: boolean;
}

export interface Verdict {
  readonly score: number;
  readonly confidence: number;
  readonly result: Result;
  /** Undefined if it depends on facts that the server does not send. */
  readonly reason: string | null | undefined;
  readonly windows: readonly ScoredWindow[];
}

// jscpd:ignore-start: the page is a client, and has none of the server's code. A test compares both.
const rounded = (value: number): number => Math.round(value * 1e6) / 1e6;

const resultOf = (score: number, threshold: number): Result => (score >= threshold ? 'spoofed' : 'bonafide');

export function confidenceOf(score: number, threshold: number): number {
  const distance = Math.abs(score - threshold);
  return distance === 0 ? 0 : distance / (score >= threshold ? 1 - threshold : threshold);
}

// jscpd:ignore-end

/**
 * The verdict that the server would give at another threshold, from the scores of its answer.
 * @param threshold 0..1
 * @returns undefined if no window has a score
 */
export function verdictAt(
  stretches: readonly ScoredStretch[],
  threshold: number,
  known: Known,
): Verdict | undefined {
  if (stretches.length === 0) return undefined;
  const windows = stretches.map(({ startS, endS, scores }): ScoredWindow => {
    const score = mean(scores);
    const confidence = rounded(confidenceOf(score, threshold));
    return { startS, endS, score, confidence, result: resultOf(score, threshold) };
  });
  const score = rounded(mean(windows.map((window) => window.score)));
  const confidence = rounded(mean(windows.map((window) => window.confidence)));
  return {
    score,
    confidence,
    result: resultOf(score, threshold),
    reason: reasonAt(confidence, known),
    windows,
  };
}

/** `uncertain` follows from the scores. It and `mixed_content` hide the reasons that follow from the audio. */
function reasonAt(confidence: number, { reason, uncertainBelow, isMixed }: Known): string | null | undefined {
  if (uncertainBelow === undefined) return undefined;
  if (confidence < uncertainBelow) return 'uncertain';
  if (isMixed) return 'mixed_content';
  return reasonOfAudio(reason);
}

/** A reason that holds for each part of a recording; undefined if another one hides it. */
export const reasonOfAudio = (reason: string | null): string | null | undefined =>
  reason === 'uncertain' || reason === 'mixed_content' ? undefined : reason;

interface Answer {
  readonly reason: string | null;
  readonly warnings: readonly string[];
  /** Undefined if they were not asked for, or are not known. */
  readonly stretches?: readonly AnswerStretch[] | undefined;
}

const NOT_KNOWN = 'Stretches are not known';

/**
 * The stretches of a finished answer; undefined if only the server can tell. Whatever was asked for, it gives the reason
 * `mixed_content` if a part stands out. Without it, differing windows mean nothing: some always do in a long recording.
 */
export function stretchesOf({ reason, warnings, stretches }: Answer): readonly AnswerStretch[] | undefined {
  const isToldByReason =
    reasonOfAudio(reason) !== undefined && !warnings.some((warning) => warning.startsWith(NOT_KNOWN));
  return stretches ?? (isToldByReason ? [] : undefined);
}
