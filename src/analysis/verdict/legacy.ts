// SPDX-License-Identifier: Apache-2.0
import type { LegacyPrediction } from '../../base/contract/legacy-prediction.js';
import { DEFAULT_THRESHOLD } from '../../base/contract/limits.js';
import { LARGE_FILE_MODEL } from '../../base/contract/model-ids.js';
import type { Analysis, AudioWindow } from '../analyser/analyser.js';
import { type Result, rounded, type Segment, verdictOf } from './verdict.js';
import { missingEndText, seconds, skippedText, unheardText } from './warnings.js';

/** Samples of the file and those of the models end at slightly different times. */
const ROUNDING_S = 0.001;

/** Such a chunk is still analysed, but the missing audio may be the important part. */
function missingIn(analysis: Analysis, { startS, endS }: AudioWindow): string | null {
  const isInside = (positionS: number): boolean => positionS >= startS && positionS <= endS + ROUNDING_S;
  const sentences: string[] = [];
  const damagedAtS = analysis.damagedAtS.find(isInside);
  if (damagedAtS !== undefined)
    sentences.push(`Damaged audio was skipped near ${seconds(damagedAtS)} s; the rest was analysed.`);
  for (const part of analysis.unheard ?? []) if (isInside(part.atS)) sentences.push(unheardText(part));
  if (analysis.statedLength !== undefined && isInside(analysis.statedLength.foundS))
    sentences.push(missingEndText(analysis.statedLength));
  return sentences.length === 0 ? null : sentences.join(' ');
}

const labels = { spoofed: 'fake', bonafide: 'real' } as const satisfies Record<Result, Chunk['label']>;

interface Chunk extends AudioWindow {
  readonly label: LegacyPrediction['predictions'][number];
  readonly probability: number;
  readonly error: string | null;
}

/**
 * The body of an answer of v0's `POST /predict` (docs/api.md#version-0): one entry per chunk of about
 * five seconds. `global_probability` is the confidence of a segment in v1. A chunk that was not analysed has the label of
 * the whole file and a probability of 0, since v0 has no third label; `error` has the reason. For an analysed chunk,
 * `error` reports missing audio.
 *
 * @throws ServiceError NO_SPEECH
 */
export function legacyPredictionBody(
  analysis: Analysis,
  silenceThresholdPercent: number,
  processingS: number,
): LegacyPrediction {
  const { result, segments } = verdictOf(analysis, DEFAULT_THRESHOLD, silenceThresholdPercent);
  const analysed = analysis.windows.map((window, i): Chunk => {
    const { result, confidence } = segments[i] as Segment;
    return { ...window, label: labels[result], probability: confidence, error: missingIn(analysis, window) };
  });
  const skipped = analysis.skipped.flatMap((stretch) => {
    const error = `${skippedText(stretch)}; the limit is ${silenceThresholdPercent} percent.`;
    return stretch.windows.map(
      (window): Chunk => ({ ...window, label: labels[result], probability: 0, error }),
    );
  });
  const chunks = [...analysed, ...skipped].sort((a, b) => a.startS - b.startS);
  return {
    predictions: chunks.map(({ label }) => label),
    global_probability: chunks.map(({ probability }) => probability),
    error: chunks.map(({ error }) => error),
    model: LARGE_FILE_MODEL,
    processing_time: rounded(processingS),
    audio_duration: rounded(analysis.durationS),
  };
}
