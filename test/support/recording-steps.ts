// SPDX-License-Identifier: Apache-2.0
import type { RecordingStep } from '../../src/analysis/analyser/recording.js';

/** The step with the window that begins at this time. */
export const stepFrom = (startS: number): RecordingStep => ({
  isLast: false,
  windows: [{ startS, endS: startS + 5, scores: [0.5] }],
  skipped: [],
  cursor: {
    version: 3,
    source: 's',
    scoreFingerprint: 'f',
    silenceThresholdPercent: 80,
    audioS: startS + 5,
    checkpoint: '',
  },
});
