// SPDX-License-Identifier: Apache-2.0
import {
  DEFAULT_SILENCE_THRESHOLD_PERCENT,
  DEFAULT_THRESHOLD,
  MIN_DURATION_S,
} from '../../base/contract/limits.js';
import type { Analyser, Analysis, AnalysisRequest } from '../analyser/analyser.js';
import { verdictOf } from '../verdict/verdict.js';
import { type HeardRecording, meanOf } from './make-profile.js';

type Recording = Omit<AnalysisRequest, 'silenceThresholdPercent' | 'minDurationS' | 'adjustScore'>;

/** A recording as a detector sees it. @throws ServiceError NO_SPEECH and the analyser's errors */
export async function hearRecording(
  analyser: Pick<Analyser, 'analyse'>,
  recording: Recording,
): Promise<{ readonly heard: HeardRecording; readonly analysis: Analysis }> {
  const vectors: Float32Array[] = [];
  const analysis = await analyser.analyse({
    ...recording,
    silenceThresholdPercent: DEFAULT_SILENCE_THRESHOLD_PERCENT,
    minDurationS: MIN_DURATION_S,
    adjustScore(score, vector) {
      vectors.push(Float32Array.from(vector));
      return score;
    },
  });
  const { score } = verdictOf(analysis, DEFAULT_THRESHOLD, DEFAULT_SILENCE_THRESHOLD_PERCENT);
  const count = analysis.windows.reduce((sum, { scores }) => sum + scores.length, 0);
  // The first ones: those of a second look, which a busy server leaves out, come later.
  return { heard: { score, vector: meanOf(vectors.slice(0, count)) }, analysis };
}
