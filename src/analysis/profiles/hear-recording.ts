// SPDX-License-Identifier: Apache-2.0
import {
  DEFAULT_SILENCE_THRESHOLD_PERCENT,
  DEFAULT_THRESHOLD,
  MIN_DURATION_S,
} from '../../base/contract/limits.js';
import type { Analyser, Analysis, AnalysisRequest } from '../analyser/analyser.js';
import { verdictOf } from '../verdict/verdict.js';
import type { HeardRecording } from './make-profile.js';

type Recording = Omit<AnalysisRequest, 'silenceThresholdPercent' | 'minDurationS' | 'adjustScore'>;

/** A recording as a detector sees it. @throws ServiceError NO_SPEECH and the analyser's errors */
export async function hearRecording(
  analyser: Pick<Analyser, 'analyse'>,
  recording: Recording,
): Promise<{ readonly heard: HeardRecording; readonly analysis: Analysis }> {
  let sum: Float64Array | undefined;
  let count = 0;
  const analysis = await analyser.analyse({
    ...recording,
    silenceThresholdPercent: DEFAULT_SILENCE_THRESHOLD_PERCENT,
    minDurationS: MIN_DURATION_S,
    adjustScore(score, vector) {
      count++;
      sum = Float64Array.from(vector, (value, i) => value + (sum?.[i] ?? 0));
      return score;
    },
  });
  const { score } = verdictOf(analysis, DEFAULT_THRESHOLD, DEFAULT_SILENCE_THRESHOLD_PERCENT);
  const vector = Float32Array.from(sum ?? [], (value) => value / count);
  return { heard: { score, vector }, analysis };
}
