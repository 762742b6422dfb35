// SPDX-License-Identifier: Apache-2.0

import type { Analyser } from '../analyser/analyser.js';
import type { Config } from '../config/options.js';
import {
  DEFAULT_SILENCE_THRESHOLD_PERCENT,
  MAX_LEGACY_FILE_BYTES,
  MIN_LEGACY_DURATION_S,
} from '../contract/limits.js';
import { LARGE_FILE_MODEL } from '../contract/model-ids.js';
import { FILE_FIELD, legacyPredictEndpoint } from '../contract/predict-endpoints.js';
import { type LegacyFields, legacyFieldSchemas } from '../contract/predict-fields.js';
import { ServiceError } from '../errors/service-error.js';
import { legacyPredictionBody } from '../verdict/legacy.js';
import { type FileIntake, receiveInput } from './analysis-input.js';
import { type AnalysisSteps, answerAnalysis } from './answer-analysis.js';
import { FieldValidator } from './form-fields.js';
import type { Route } from './route.js';

/** v0's `POST /predict`, at `/v0/predict` and under the unversioned base. */
export function legacyPredictRoute(
  path: string,
  config: Config,
  analyser: Analyser,
  intake: FileIntake,
): Route {
  const validator = new FieldValidator<LegacyFields>({ schemas: legacyFieldSchemas });
  const allowedBytes = MAX_LEGACY_FILE_BYTES;
  const limits = {
    fileField: FILE_FIELD,
    maxFileBytes: allowedBytes,
    fileTooLarge: () => new ServiceError('FILE_TOO_LARGE_LEGACY', { allowedBytes }),
    receiveTimeoutMs: config.receiveTimeoutMs,
  };
  const steps: AnalysisSteps<LegacyFields> = {
    receive: (request) => receiveInput(request, validator, intake, limits),
    plan: () => ({
      modelId: LARGE_FILE_MODEL,
      silenceThresholdPercent: DEFAULT_SILENCE_THRESHOLD_PERCENT,
      minDurationS: MIN_LEGACY_DURATION_S,
      maxDurationS: config.maxPredictDurationS,
    }),
    body: (analysis, _, processingS) =>
      legacyPredictionBody(analysis, DEFAULT_SILENCE_THRESHOLD_PERCENT, processingS),
  };
  return {
    ...legacyPredictEndpoint(path, config),
    takesTurn: true,
    handle: (request) => answerAnalysis(request, analyser, steps),
  };
}
