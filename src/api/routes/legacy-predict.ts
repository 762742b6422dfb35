// SPDX-License-Identifier: Apache-2.0

import type { Analyser } from '../../analysis/analyser/analyser.js';
import { legacyPredictionBody } from '../../analysis/verdict/legacy.js';
import type { Config } from '../../base/config/options.js';
import {
  DEFAULT_SILENCE_THRESHOLD_PERCENT,
  MAX_LEGACY_FILE_BYTES,
  MIN_LEGACY_DURATION_S,
} from '../../base/contract/limits.js';
import { LARGE_FILE_MODEL } from '../../base/contract/model-ids.js';
import { FILE_FIELD, legacyPredictEndpoint } from '../../base/contract/predict-endpoints.js';
import { type LegacyFields, legacyFieldSchemas } from '../../base/contract/predict-fields.js';
import { ServiceError } from '../../base/errors/service-error.js';
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
      model: LARGE_FILE_MODEL,
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
