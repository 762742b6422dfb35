// SPDX-License-Identifier: Apache-2.0
import type { Analysis } from '../../src/analysis/analyser/analyser.js';
import { someAnalysis } from './analyser-double.js';

/** A minute of human speech with a generated sentence from 30.5 to 34 s. */
export const splicedAnalysis: Analysis = {
  ...someAnalysis,
  durationS: 60,
  windows: Array.from({ length: 12 }, (_, i) => ({
    startS: 5 * i,
    endS: 5 * i + 5,
    scores: [i === 6 ? 0.98 : 0.02],
  })),
  closerWindows: Array.from({ length: 9 }, (_, i) => ({
    startS: 27 + i,
    endS: 29.5 + i,
    scores: [i >= 3 && i <= 5 ? 0.98 : 0.02],
  })),
};
