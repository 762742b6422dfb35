// SPDX-License-Identifier: Apache-2.0
import type { Analysis } from '../analyser/analyser.js';
import { type Chunk, chunksOf, SAMPLES_PER_S, samplesIn } from './chunk-plan.js';
import { type Result, rounded, verdictOf } from './verdict.js';
import { seconds, skippedText } from './warnings.js';

const THRESHOLD = 0.5;

const within = (atS: number, { startSample, endSample }: Chunk): boolean => {
  const sample = samplesIn(atS);
  return sample >= startSample && sample <= endSample;
};

/** Damage does not keep a chunk from being analysed, but what is missing may be what mattered. */
function damageIn(analysis: Analysis, chunk: Chunk): string | null {
  const atS = analysis.damagedAtS.find((position) => within(position, chunk));
  return atS === undefined
    ? null
    : `Damaged audio was skipped near ${seconds(atS)} s; the rest was analysed.`;
}

const labels = { spoofed: 'fake', bonafide: 'real' } as const satisfies Record<Result, string>;

function whyNotAnalysed(
  analysis: Analysis,
  { startSample, endSample }: Chunk,
  allowedPercent: number,
): string {
  const stretch = analysis.skipped.find(
    ({ startS, endS }) => samplesIn(startS) <= startSample && samplesIn(endS) >= endSample,
  );
  const startS = startSample / SAMPLES_PER_S;
  if (stretch === undefined)
    throw new Error(`The window at ${startS} s is neither scored nor skipped. This is a bug.`);
  return `${skippedText(stretch)}, and at most ${allowedPercent} percent may be.`;
}

/**
 * The body of an answer of v0's `POST /predict` (docs/api.md#version-0): one entry per chunk of about
 * five seconds. `global_probability` is what v1 calls a segment's confidence. A chunk that was not analysed has the label
 * of the file as a whole, with a probability of 0, since v0 knows no third label; `error` says why, and of a chunk that was analysed whether
 * audio is missing in it.
 *
 * @throws ServiceError NO_SPEECH
 */
export function legacyPredictionBody(
  analysis: Analysis,
  silenceThresholdPercent: number,
  processingS: number,
) {
  const { result, segments } = verdictOf(analysis, THRESHOLD, silenceThresholdPercent);
  const segmentAt = new Map(segments.map((segment) => [samplesIn(segment.startS), segment]));
  const chunks = chunksOf(analysis.durationS).map((chunk) => {
    const segment = segmentAt.get(chunk.startSample);
    if (segment !== undefined) {
      return {
        label: labels[segment.result],
        probability: segment.confidence,
        error: damageIn(analysis, chunk),
      };
    }
    const error = whyNotAnalysed(analysis, chunk, silenceThresholdPercent);
    return { label: labels[result], probability: 0, error };
  });
  return {
    predictions: chunks.map(({ label }) => label),
    global_probability: chunks.map(({ probability }) => probability),
    error: chunks.map(({ error }) => error),
    model: analysis.modelId,
    processing_time: rounded(processingS),
    audio_duration: rounded(analysis.durationS),
  };
}
