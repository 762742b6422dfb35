// SPDX-License-Identifier: Apache-2.0

import type { Analyser } from '../../analysis/analyser/analyser.js';
import { detectorNamed } from '../../analysis/pipeline/model-status.js';
import { predictionBody } from '../../analysis/verdict/prediction.js';
import type { AudioRegion } from '../../base/addon/addon.js';
import type { Config } from '../../base/config/options.js';
import { MIN_DURATION_S } from '../../base/contract/limits.js';
import { LARGE_FILE_MODEL } from '../../base/contract/model-ids.js';
import { FILE_FIELD, predictEndpoint } from '../../base/contract/predict-endpoints.js';
import { type PredictFields, predictFieldSchemas } from '../../base/contract/predict-fields.js';
import { newPredictionId } from '../../base/contract/prediction-id.js';
import { ServiceError } from '../../base/errors/service-error.js';
import type { OperatingPoints } from '../../state/operating-points/operating-points.js';
import { type FileIntake, type InputLimits, receiveInput } from './analysis-input.js';
import { analyseFile, answerInput, warned } from './answer-analysis.js';
import { FieldValidator, resolvedReader } from './form-fields.js';
import { regionOf } from './region.js';
import { jsonReply, type Route } from './route.js';

/** With the threshold as a number. */
type ResolvedFields = Omit<PredictFields, 'threshold'> & {
  readonly threshold: number;
  readonly region: AudioRegion;
};

/** `POST /v1/predict`: is the voice in this file AI-generated? */
export function predictRoute(
  config: Config,
  analyser: Analyser,
  intake: FileIntake,
  points: OperatingPoints,
): Route {
  const { models, detectors } = analyser.status();
  const validator = new FieldValidator<PredictFields>({ schemas: predictFieldSchemas(detectors) });
  const allowedBytes = config.maxPredictBytes;
  const hint = models.includes(LARGE_FILE_MODEL)
    ? 'POST /v1/predict/large-file takes larger ones, and POST /v1/jobs the largest'
    : undefined;
  const limits: InputLimits = {
    fileField: FILE_FIELD,
    maxFileBytes: allowedBytes,
    fileTooLarge: () => new ServiceError('FILE_TOO_LARGE', { allowedBytes, hint: hint ? `${hint}.` : '' }),
    receiveTimeoutMs: config.receiveTimeoutMs,
  };
  /** Refuses invalid fields before anything is fetched or analysed. */
  const resolve = (fields: PredictFields): ResolvedFields => {
    const { threshold: given, model } = fields;
    const threshold =
      typeof given === 'number'
        ? given
        : points.thresholdOf(given, detectorNamed(analyser.status(), model), 'threshold');
    return { ...fields, threshold, region: regionOf(fields) };
  };
  const reader = resolvedReader(validator, resolve);
  return {
    ...predictEndpoint(config, detectors),
    takesTurn: true,
    async handle(request) {
      const input = await receiveInput(request, reader, intake, limits);
      return answerInput(request, input, async (elapsedS) => {
        const {
          model,
          threshold,
          silence_threshold: silenceThresholdPercent,
          detail,
          ...fields
        } = input.fields;
        const plan = {
          region: input.region,
          model,
          silenceThresholdPercent,
          minDurationS: MIN_DURATION_S,
          maxDurationS: config.maxPredictDurationS,
          ...fields.region,
        };
        const { analysis, channels } = await analyseFile(request, analyser, plan, fields.channels);
        const predictionId = fields.prediction_id ?? newPredictionId();
        const asked = { model, predictionId, threshold, silenceThresholdPercent, detail, channels };
        return jsonReply(200, warned(predictionBody(analysis, asked, elapsedS()), request));
      });
    },
  };
}
