// SPDX-License-Identifier: Apache-2.0
import { randomUUID } from 'node:crypto';
import type { Config } from '../config/config.js';
import { ServiceError } from '../errors/service-error.js';
import type { Analyser } from '../pipeline/analysis.js';
import { predictionBody } from '../verdict/prediction.js';
import { type FileIntake, receiveInput } from './analysis-input.js';
import { FieldValidator } from './form-fields.js';
import { type PredictFields, predictFieldSchemas } from './predict-fields.js';
import { jsonReply, type Reply, type Route, type RouteRequest } from './route.js';

const MIN_DURATION_S = 1;

/** The last group of a random UUID: 12 hexadecimal characters, all of them random. */
const newPredictionId = (): string => `pred_${randomUUID().slice(-12)}`;

/** `POST /v1/predict`: is the voice in this file AI-generated? */
export function predictRoute(config: Config, analyser: Analyser, intake: FileIntake): Route {
  const validator = new FieldValidator<PredictFields>(predictFieldSchemas(analyser.status().models));
  const hint = 'POST /v1/predict/large-file takes larger ones.';
  const limits = {
    fileField: 'file',
    maxFileBytes: config.maxPredictBytes,
    fileTooLarge: () => new ServiceError('FILE_TOO_LARGE', { allowedBytes: config.maxPredictBytes, hint }),
    receiveTimeoutMs: config.receiveTimeoutMs,
  };

  async function handle(request: RouteRequest): Promise<Reply> {
    const { record } = request;
    const { fields, region, release } = await receiveInput(request, validator, intake, limits);
    try {
      const receivedMs = performance.now();
      const analysis = await analyser.analyse({
        region,
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
      const prediction = {
        predictionId: fields.prediction_id ?? newPredictionId(),
        threshold: fields.threshold,
        silenceThresholdPercent: fields.silence_threshold,
      };
      return jsonReply(200, predictionBody(analysis, prediction, (performance.now() - receivedMs) / 1000));
    } finally {
      // Not earlier, even when the client has gone: the prepare thread may still be reading the file.
      release();
    }
  }

  return { method: 'POST', path: '/v1/predict', scope: 'predict', handle };
}
