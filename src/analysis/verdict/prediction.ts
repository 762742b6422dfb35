// SPDX-License-Identifier: Apache-2.0
import type { LargeFilePrediction, Prediction } from '../../base/contract/prediction.js';
import type { Analysis } from '../analyser/analyser.js';
import type { Stretch } from './stretches.js';
import { rounded, type Segment, type Verdict, verdictOf } from './verdict.js';
import { warningsOf } from './warnings.js';

export interface PredictionRequest {
  /** The detector, as the request names it: its id or an alias. */
  readonly model: string;
  readonly predictionId: string;
  /** 0..1 */
  readonly threshold: number;
  /** 0..100 */
  readonly silenceThresholdPercent: number;
  /** The name of the profile behind the scores. */
  readonly profile?: string | undefined;
  /** Further parts of the answer that the request asks for. */
  readonly detail?: 'stretches' | undefined;
  /** The analyses of the single channels, if the request asks for them. */
  readonly channels?: readonly Analysis[] | undefined;
}

type Found = Pick<Prediction, 'contains_generated' | 'stretches'>;
type AnyPrediction = Prediction | LargeFilePrediction;

/** The differences between the answers of v1's routes. */
interface Wording<Body extends AnyPrediction> {
  global(verdict: Omit<Verdict, 'segments' | 'stretches'>): Body['global'];
  segment(segment: Segment, index: number): Body['segments'][number];
}

function bodyOf<Body extends AnyPrediction>(
  analysis: Analysis,
  { model, predictionId, threshold, silenceThresholdPercent, profile, detail, channels }: PredictionRequest,
  processingS: number,
  wording: Wording<Body>,
) {
  const verdict = verdictOf(analysis, threshold, silenceThresholdPercent);
  return {
    prediction_id: predictionId,
    global: wording.global(verdict),
    segments: verdict.segments.map(wording.segment),
    model,
    ...(profile !== undefined && { profile }),
    processing_time: rounded(processingS),
    audio_duration: rounded(analysis.durationS),
    warnings: warningsOf(analysis, silenceThresholdPercent),
    ...(detail && foundIn(analysis, verdict.stretches)),
    ...(channels && {
      channels: channels.map((each, channel) => {
        // One side of a call may say nothing.
        const own = each.windows.length > 0 && verdictOf(each, threshold, silenceThresholdPercent);
        return {
          channel,
          global: own ? wording.global(own) : null,
          segments: own ? own.segments.map(wording.segment) : [],
          warnings: warningsOf(each, silenceThresholdPercent),
          ...(detail && foundIn(each, own ? own.stretches : [])),
        };
      }),
    }),
  };
}

/** Nothing if that is not known. */
const foundIn = ({ missedLook }: Analysis, stretches: readonly Stretch[]): Found =>
  missedLook === undefined ? foundBody(stretches) : {};

/** Whether and where there is AI-generated speech. */
export function foundBody(stretches: readonly Stretch[]): Required<Found> {
  return {
    contains_generated: stretches.length > 0,
    stretches: stretches.map(({ startS, endS, score, strength }) => ({
      start: rounded(startS),
      end: rounded(endS),
      score: rounded(score),
      strength: strength === null ? null : rounded(strength),
    })),
  };
}

/**
 * The body of an answer of `POST /v1/predict` (docs/api.md#read-a-verdict).
 * @throws ServiceError NO_SPEECH
 */
export function predictionBody(
  analysis: Analysis,
  request: PredictionRequest,
  processingS: number,
): Prediction {
  return bodyOf<Prediction>(analysis, request, processingS, {
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
 * The body of an answer of `POST /v1/predict/large-file`: segments are numbered, and there are no raw scores.
 * @throws ServiceError NO_SPEECH
 */
export function largeFileBody(
  analysis: Analysis,
  request: PredictionRequest,
  processingS: number,
): LargeFilePrediction {
  return bodyOf<LargeFilePrediction>(analysis, request, processingS, {
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
