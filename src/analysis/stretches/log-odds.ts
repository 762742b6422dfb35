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
