// SPDX-License-Identifier: Apache-2.0

import type { Analyser } from '../analyser/analyser.js';
import type { Config } from '../config/options.js';
import { analysisErrors, inputErrors } from '../contract/error-groups.js';
import { MIN_DURATION_S } from '../contract/limits.js';
import { LARGE_FILE_MODEL } from '../contract/model-ids.js';
import { anyFormat, type Operation } from '../contract/operation.js';
import { type PredictFields, predictFieldSchemas } from '../contract/predict-fields.js';
import { prediction } from '../contract/prediction.js';
import { newPredictionId } from '../contract/prediction-id.js';
import { ServiceError } from '../errors/service-error.js';
import type { OperatingPoints } from '../operating-points/operating-points.js';
import { detectorNamed } from '../pipeline/model-status.js';
import { predictionBody } from '../verdict/prediction.js';
import { type FileIntake, type InputLimits, receiveInput, withLink } from './analysis-input.js';
import { type AnalysisSteps, answerAnalysis } from './answer-analysis.js';
import { type FieldReader, FieldValidator } from './form-fields.js';
import type { Route } from './route.js';

/** With the threshold as a number. */
type ResolvedFields = Omit<PredictFields, 'threshold'> & { readonly threshold: number };

/** `POST /v1/predict`: is the voice in this file AI-generated? */
export function predictRoute(
  config: Config,
  analyser: Analyser,
  intake: FileIntake,
  points: OperatingPoints,
): Route {
  const { models } = analyser.status();
  const schemas = predictFieldSchemas(models);
  const validator = new FieldValidator<PredictFields>(schemas);
  const allowedBytes = config.maxPredictBytes;
  const hint = models.includes(LARGE_FILE_MODEL)
    ? 'POST /v1/predict/large-file takes larger ones'
    : undefined;
  const limits: InputLimits = {
    fileField: 'file',
    maxFileBytes: allowedBytes,
    fileTooLarge: () => new ServiceError('FILE_TOO_LARGE', { allowedBytes, hint: hint ? `${hint}.` : '' }),
    linkTooLarge: () =>
      new ServiceError('FILE_TOO_LARGE', {
        allowedBytes,
        hint: hint ? `${hint}, in a form, not by link.` : '',
      }),
    receiveTimeoutMs: config.receiveTimeoutMs,
  };
  /** With the named operating point looked up: a name that is wrong is refused before anything is fetched or analysed. */
  const resolve = (fields: PredictFields): ResolvedFields => {
    const { threshold: given, model } = fields;
    if (typeof given === 'number') return { ...fields, threshold: given };
    return {
      ...fields,
      threshold: points.thresholdOf(given, detectorNamed(analyser.status(), model), 'threshold'),
    };
  };
  const reader: FieldReader<ResolvedFields> = {
    fromForm: (form) => resolve(validator.fromForm(form)),
    fromJson: (object) => resolve(validator.fromJson(object)),
  };
  const steps: AnalysisSteps<ResolvedFields> = {
    receive: (request) => receiveInput(request, reader, intake, limits),
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
  const example = { threshold: 0.5, silence_threshold: 80, device: 'api', prediction_id: 'call-4711' };
  const operation: Operation = {
    id: 'predict',
    tag: 'Detection',
    summary: 'Is the voice in this recording AI-generated?',
    description: `Takes ${anyFormat}, of at most ${config.maxPredictDurationS} s. Of a video the first audio stream is analysed.`,
    form: {
      file: { field: limits.fileField, description: 'The recording.', maxBytes: limits.maxFileBytes },
      schemas,
      example,
    },
    json: withLink({ schemas, example }),
    answers: { 200: { description: 'The verdict.', schema: prediction } },
    errors: [...inputErrors, 'FILE_TOO_LARGE', ...analysisErrors, 'NO_SPEECH'],
  };
  return {
    method: 'POST',
    path: '/v1/predict',
    scope: 'predict',
    takesTurn: true,
    operation,
    handle: (request) => answerAnalysis(request, analyser, steps),
  };
}
