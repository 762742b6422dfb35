// SPDX-License-Identifier: Apache-2.0
import type { ScoredWindow } from '../analyser/analyser.js';

/** Beyond this, a score says no more about a voice. */
export const MOST_LOG_ODDS = 8;

/** Of being AI-generated; differences mean the same near 0, near 0.5 and near 1. */
export function logOddsOf({ scores }: Pick<ScoredWindow, 'scores'>): number {
  const score = scores.reduce((sum, each) => sum + each, 0) / scores.length;
  const logOdds = Math.log(score) - Math.log1p(-score);
  return Math.min(MOST_LOG_ODDS, Math.max(-MOST_LOG_ODDS, logOdds));
}

/**
 * Log-odds of windows of an ordinary human voice, of about the middle and spread of the detectors' validation recordings. They stand
 * for the rest of a recording as long as little of it is known.
 */
export const humanPrior: readonly number[] = [-4.2, -3.6, -3.2, -2.8, -2.5, -2.2, -1.9, -1.6, -1.2, -0.6];

/** Below it lies all of a recording but its clearest windows. */
export const USUAL_SHARE = 0.9;
