// SPDX-License-Identifier: Apache-2.0

import type { Analyser } from '../../analysis/analyser/analyser.js';
import { largeFileBody } from '../../analysis/verdict/prediction.js';
import type { Config } from '../../base/config/options.js';
import {
  DEFAULT_SILENCE_THRESHOLD_PERCENT,
  DEFAULT_THRESHOLD,
  MIN_DURATION_S,
  MIN_LARGE_FILE_BYTES,
} from '../../base/contract/limits.js';
import { FILE_FIELD, largeFileEndpoint } from '../../base/contract/predict-endpoints.js';
import { type LargeFileFields, largeFileFieldSchemas } from '../../base/contract/predict-fields.js';
import { newPredictionId } from '../../base/contract/prediction-id.js';
import { ServiceError } from '../../base/errors/service-error.js';
import type { Logger } from '../../base/observe/log.js';
import { progressLog } from '../../base/observe/progress-log.js';
import type { BytePermits } from '../admission/byte-permits.js';
import type { FileIntake, InputLimits } from './analysis-input.js';
import { type AnalysisSteps, answerAnalysis } from './answer-analysis.js';
import { FieldValidator } from './form-fields.js';
import { LargeFileIntake } from './large-file-intake.js';
import type { Route } from './route.js';

/** `POST /v1/predict/large-file`: the same question as `POST /v1/predict`, of hours of audio. */
export function largeFileRoute(
  config: Config,
  analyser: Analyser,
  files: FileIntake,
  permits: BytePermits,
  log: Logger,
): Route {
  const { maxLargeFileBytes, maxLargeFileDurationS, largeFileReceiveTimeoutMs, largeFileTimeoutMs } = config;
  const tooSmall = {
    requiredBytes: MIN_LARGE_FILE_BYTES,
    hint: 'POST /v1/predict takes smaller ones.',
  };
  const limits: InputLimits = {
    fileField: FILE_FIELD,
    maxFileBytes: maxLargeFileBytes,
    fileTooLarge: () =>
      new ServiceError('FILE_TOO_LARGE', {
        allowedBytes: maxLargeFileBytes,
        hint: 'POST /v1/jobs takes larger ones that are stored, or by link.',
      }),
    minFile: { bytes: MIN_LARGE_FILE_BYTES, tooSmall: () => new ServiceError('FILE_TOO_SMALL', tooSmall) },
    receiveTimeoutMs: largeFileReceiveTimeoutMs,
  };
  const { detectors } = analyser.status();
  const intake = new LargeFileIntake<LargeFileFields>(
    new FieldValidator({ schemas: largeFileFieldSchemas(detectors) }),
    files,
    limits,
    permits,
  );
  const steps: AnalysisSteps<LargeFileFields> = {
    receive: (request) => intake.receive(request),
    plan: ({ model }, { record }) => ({
      model,
      silenceThresholdPercent: DEFAULT_SILENCE_THRESHOLD_PERCENT,
      minDurationS: MIN_DURATION_S,
      maxDurationS: maxLargeFileDurationS,
      longTimeoutMs: largeFileTimeoutMs,
      onProgress: progressLog(log, record.correlationId),
    }),
    body: (analysis, fields, processingS) => {
      const request = {
        model: fields.model,
        predictionId: fields.prediction_id ?? newPredictionId(),
        threshold: DEFAULT_THRESHOLD,
        silenceThresholdPercent: DEFAULT_SILENCE_THRESHOLD_PERCENT,
      };
      return largeFileBody(analysis, request, processingS);
    },
  };
  return {
    ...largeFileEndpoint(config, detectors),
    handle: (request) => answerAnalysis(request, analyser, steps),
  };
}
