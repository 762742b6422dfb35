// SPDX-License-Identifier: Apache-2.0
import { randomUUID } from 'node:crypto';
import type { Config } from '../config/config.js';
import { prediction } from '../contract/prediction.js';
import { ServiceError } from '../errors/service-error.js';
import { analysisErrors, fieldErrors, formErrors } from '../openapi/error-groups.js';
import { mediaFormats, type Operation } from '../openapi/operation.js';
import type { Analyser } from '../pipeline/analysis.js';
import type { ArenaQueue } from '../upload/arena-queue.js';
import { receiveForm } from '../upload/form-upload.js';
import { predictionBody } from '../verdict/prediction.js';
import { FieldValidator, fileOf } from './form-fields.js';
import { type PredictFields, predictFieldSchemas } from './predict-fields.js';
import { jsonReply, type Reply, type Route, type RouteRequest } from './route.js';

const FILE_FIELD = 'file';
const MIN_DURATION_S = 1;

/** The last group of a random UUID: 12 hexadecimal characters, all of them random. */
const newPredictionId = (): string => `pred_${randomUUID().slice(-12)}`;

/** `POST /v1/predict`: is the voice in this file AI-generated? */
export function predictRoute(config: Config, analyser: Analyser, queue: ArenaQueue): Route {
  const schemas = predictFieldSchemas(analyser.status().models);
  const validator = new FieldValidator<PredictFields>(schemas);
  const hint = 'POST /v1/predict/large-file takes larger ones.';
  const limits = {
    fileField: FILE_FIELD,
    maxFileBytes: config.maxPredictBytes,
    fileTooLarge: () => new ServiceError('FILE_TOO_LARGE', { allowedBytes: config.maxPredictBytes, hint }),
    receiveTimeoutMs: config.receiveTimeoutMs,
  };

  async function handle(request: RouteRequest): Promise<Reply> {
    const { record } = request;
    const startedMs = performance.now();
    const form = await receiveForm(request.body, request.contentType, queue, limits);
    try {
      const receivedMs = performance.now();
      record.stagesMs = { receive: receivedMs - startedMs };
      record.bodyBytes = form.bodyBytes;
      const fields = validator.fromForm(form);
      const analysis = await analyser.analyse({
        region: form.locate(fileOf(form, FILE_FIELD)),
        modelId: fields.model,
        silenceThresholdPercent: fields.silence_threshold,
        minDurationS: MIN_DURATION_S,
        maxDurationS: config.maxPredictDurationS,
        signal: request.signal,
      });
      record.stagesMs = { ...record.stagesMs, ...analysis.timesMs };
      record.model = analysis.modelId;
      record.audioS = analysis.durationS;
      record.scoredWindows = analysis.windows.length;
      record.skippedS = analysis.skipped.reduce((sum, { startS, endS }) => sum + endS - startS, 0);
      const identity = {
        predictionId: fields.prediction_id ?? newPredictionId(),
        threshold: fields.threshold,
        silenceThresholdPercent: fields.silence_threshold,
      };
      return jsonReply(200, predictionBody(analysis, identity, (performance.now() - receivedMs) / 1000));
    } finally {
      // Not earlier, even when the client has gone: the prepare thread may still be reading the file.
      form.release();
    }
  }

  const operation: Operation = {
    id: 'predict',
    tag: 'Detection',
    summary: 'Is the voice in this recording AI-generated?',
    description: `Takes ${mediaFormats}, of at most ${config.maxPredictDurationS} s. Of a video the first audio stream is analysed.`,
    form: {
      file: { field: FILE_FIELD, description: 'The recording.', maxBytes: config.maxPredictBytes },
      schemas,
      example: { threshold: 0.5, silence_threshold: 80, device: 'api', prediction_id: 'call-4711' },
    },
    answers: { 200: { description: 'The verdict.', schema: prediction } },
    errors: [...formErrors, ...fieldErrors, ...analysisErrors, 'NO_SPEECH'],
  };

  return { method: 'POST', path: '/v1/predict', scope: 'predict', operation, handle };
}
