// SPDX-License-Identifier: Apache-2.0
import type { Config } from '../config/config.js';
import { ServiceError } from '../errors/service-error.js';
import type { Analyser } from '../pipeline/analysis.js';
import { predictionBody } from '../verdict/prediction.js';
import { type FileIntake, receiveInput } from './analysis-input.js';
import { type AnalysisSteps, answerAnalysis, newPredictionId } from './answer-analysis.js';
import { FieldValidator } from './form-fields.js';
import { LARGE_FILE_MODEL, type PredictFields, predictFieldSchemas } from './predict-fields.js';
import type { Route } from './route.js';

const MIN_DURATION_S = 1;

/** `POST /v1/predict`: is the voice in this file AI-generated? */
export function predictRoute(config: Config, analyser: Analyser, intake: FileIntake): Route {
  const { models } = analyser.status();
  const validator = new FieldValidator<PredictFields>(predictFieldSchemas(models));
  const hint = models.includes(LARGE_FILE_MODEL) ? 'POST /v1/predict/large-file takes larger ones.' : '';
  const limits = {
    fileField: 'file',
    maxFileBytes: config.maxPredictBytes,
    fileTooLarge: () => new ServiceError('FILE_TOO_LARGE', { allowedBytes: config.maxPredictBytes, hint }),
    receiveTimeoutMs: config.receiveTimeoutMs,
  };
  const steps: AnalysisSteps<PredictFields> = {
    receive: (request) => receiveInput(request, validator, intake, limits),
    plan: (fields) => ({
      modelId: fields.model,
      silenceThresholdPercent: fields.silence_threshold,
      minDurationS: MIN_DURATION_S,
      maxDurationS: config.maxPredictDurationS,
    }),
    body: (analysis, fields, processingS) => {
      const request = {
        predictionId: fields.prediction_id ?? newPredictionId(),
        threshold: fields.threshold,
        silenceThresholdPercent: fields.silence_threshold,
      };
      return predictionBody(analysis, request, processingS);
    },
  };
  return {
    method: 'POST',
    path: '/v1/predict',
    scope: 'predict',
    handle: (request) => answerAnalysis(request, analyser, steps),
  };
}
