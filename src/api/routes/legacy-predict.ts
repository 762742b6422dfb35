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
import { analyseFile, answerInput } from './answer-analysis.js';
import { FieldValidator } from './form-fields.js';
import { jsonReply, type Route } from './route.js';

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
  return {
    ...legacyPredictEndpoint(path, config),
    takesTurn: true,
    async handle(request) {
      const input = await receiveInput(request, validator, intake, limits);
      return answerInput(request, input, async (elapsedS) => {
        const { analysis } = await analyseFile(request, analyser, {
          region: input.region,
          model: LARGE_FILE_MODEL,
          silenceThresholdPercent: DEFAULT_SILENCE_THRESHOLD_PERCENT,
          minDurationS: MIN_LEGACY_DURATION_S,
          maxDurationS: config.maxPredictDurationS,
        });
        return jsonReply(200, legacyPredictionBody(analysis, DEFAULT_SILENCE_THRESHOLD_PERCENT, elapsedS()));
      });
    },
  };
}
