// SPDX-License-Identifier: Apache-2.0
import type { Analysis } from '../pipeline/analysis.js';
import { rounded, verdictOf } from './verdict.js';
import { warningsOf } from './warnings.js';

export interface PredictionRequest {
  readonly predictionId: string;
  /** 0..1 */
  readonly threshold: number;
  /** 0..100 */
  readonly silenceThresholdPercent: number;
}

/**
 * The body of an answer of `POST /v1/predict` (service interface, sections 2.1 to 2.3).
 * @throws ServiceError NO_SPEECH
 */
export function predictionBody(analysis: Analysis, request: PredictionRequest, processingS: number) {
  const { threshold, silenceThresholdPercent } = request;
  const { score, confidence, result, reason, segments } = verdictOf(
    analysis,
    threshold,
    silenceThresholdPercent,
  );
  return {
    prediction_id: request.predictionId,
    global: { score, confidence, result, reason },
    segments: segments.map((segment) => ({
      start: segment.startS,
      end: segment.endS,
      scores: segment.scores,
      confidence: segment.confidence,
      result: segment.result,
    })),
    model: analysis.modelId,
    processing_time: rounded(processingS),
    audio_duration: rounded(analysis.durationS),
    warnings: warningsOf(analysis, silenceThresholdPercent),
  };
}
