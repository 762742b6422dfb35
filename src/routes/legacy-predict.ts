// SPDX-License-Identifier: Apache-2.0

import type { Analyser } from '../analyser/analyser.js';
import type { Config } from '../config/options.js';
import { legacyPrediction } from '../contract/legacy-prediction.js';
import { ServiceError } from '../errors/service-error.js';
import { analysisErrors, inputErrors } from '../openapi/error-groups.js';
import { mediaFormats, type Operation } from '../openapi/operation.js';
import { legacyPredictionBody } from '../verdict/legacy.js';
import { type FileIntake, receiveInput, withLink } from './analysis-input.js';
import { type AnalysisSteps, answerAnalysis } from './answer-analysis.js';
import { type FieldSchemas, FieldValidator } from './form-fields.js';
import { DEFAULT_SILENCE_THRESHOLD_PERCENT, LARGE_FILE_MODEL } from './predict-fields.js';
import type { Route } from './route.js';

/** The contract's limit, 4 MB. */
export const MAX_LEGACY_FILE_BYTES = 4_000_000;
const MIN_DURATION_S = 3;

/** The fields of v0's `POST /predict` beside the file. Whose audio it is changes nothing in the answer. */
interface LegacyFields {
  readonly user_id?: string;
}

export const legacyFieldSchemas: FieldSchemas = {
  user_id: {
    type: 'string',
    expected: 'a text',
    description: "The caller's own identifier of the speaker; it changes nothing.",
  },
};

/** v0's `POST /predict`, at `/v0/predict` and under the unversioned base. */
export function legacyPredictRoute(
  path: string,
  config: Config,
  analyser: Analyser,
  intake: FileIntake,
): Route {
  const validator = new FieldValidator<LegacyFields>(legacyFieldSchemas);
  const allowedBytes = MAX_LEGACY_FILE_BYTES;
  const limits = {
    fileField: 'file',
    maxFileBytes: allowedBytes,
    fileTooLarge: () => new ServiceError('FILE_TOO_LARGE_LEGACY', { allowedBytes }),
    receiveTimeoutMs: config.receiveTimeoutMs,
  };
  const steps: AnalysisSteps<LegacyFields> = {
    receive: (request) => receiveInput(request, validator, intake, limits),
    plan: () => ({
      modelId: LARGE_FILE_MODEL,
      silenceThresholdPercent: DEFAULT_SILENCE_THRESHOLD_PERCENT,
      minDurationS: MIN_DURATION_S,
      maxDurationS: config.maxPredictDurationS,
    }),
    body: (analysis, _, processingS) =>
      legacyPredictionBody(analysis, DEFAULT_SILENCE_THRESHOLD_PERCENT, processingS),
  };
  const example = { user_id: 'anna' };
  const operation: Operation = {
    id: 'predict',
    tag: 'Detection',
    summary: 'Is the voice in this recording AI-generated?',
    description: `Takes ${mediaFormats}, of ${MIN_DURATION_S} to ${config.maxPredictDurationS} s.`,
    form: {
      file: { field: limits.fileField, description: 'The recording.', maxBytes: allowedBytes },
      schemas: legacyFieldSchemas,
      example,
    },
    json: withLink({ schemas: legacyFieldSchemas, example }),
    answers: { 200: { description: 'The verdicts, one for each chunk.', schema: legacyPrediction } },
    errors: [...inputErrors, 'FILE_TOO_LARGE_LEGACY', ...analysisErrors, 'NO_SPEECH'],
  };
  return {
    method: 'POST',
    path,
    scope: 'predict',
    takesTurn: true,
    operation,
    version: 'v0',
    handle: (request) => answerAnalysis(request, analyser, steps),
  };
}
