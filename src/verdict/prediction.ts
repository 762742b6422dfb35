// SPDX-License-Identifier: Apache-2.0
import type { Analysis } from '../analyser/analyser.js';
import { rounded, type Segment, type Verdict, verdictOf } from './verdict.js';
import { warningsOf } from './warnings.js';

export interface PredictionRequest {
  readonly predictionId: string;
  /** 0..1 */
  readonly threshold: number;
  /** 0..100 */
  readonly silenceThresholdPercent: number;
}

/** What the routes of v1 tell differently. */
interface Wording<Global, Told> {
  global(verdict: Verdict): Global;
  segment(segment: Segment, index: number): Told;
}

function bodyOf<Global, Told>(
  analysis: Analysis,
  { predictionId, threshold, silenceThresholdPercent }: PredictionRequest,
  processingS: number,
  wording: Wording<Global, Told>,
) {
  const verdict = verdictOf(analysis, threshold, silenceThresholdPercent);
  return {
    prediction_id: predictionId,
    global: wording.global(verdict),
    segments: verdict.segments.map(wording.segment),
    model: analysis.modelId,
    processing_time: rounded(processingS),
    audio_duration: rounded(analysis.durationS),
    warnings: warningsOf(analysis, silenceThresholdPercent),
  };
}

/**
 * The body of an answer of `POST /v1/predict` (docs/api.md#read-a-verdict).
 * @throws ServiceError NO_SPEECH
 */
export function predictionBody(analysis: Analysis, request: PredictionRequest, processingS: number) {
  return bodyOf(analysis, request, processingS, {
    global: ({ score, confidence, result, reason }) => ({ score, confidence, result, reason }),
    segment: ({ startS, endS, scores, confidence, result }) => ({
      start: startS,
      end: endS,
      scores,
      confidence,
      result,
    }),
  });
}

/**
 * The body of an answer of `POST /v1/predict/large-file`: segments are numbered, and no raw score is told.
 * @throws ServiceError NO_SPEECH
 */
export function largeFileBody(analysis: Analysis, request: PredictionRequest, processingS: number) {
  return bodyOf(analysis, request, processingS, {
    global: ({ confidence, result, reason }) => ({ confidence, result, reason }),
    segment: ({ startS, endS, confidence, result }, index) => ({
      index,
      start: startS,
      end: endS,
      confidence,
      result,
    }),
  });
}
