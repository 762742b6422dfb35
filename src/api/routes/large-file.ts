// SPDX-License-Identifier: Apache-2.0

import type { Analyser } from '../../analysis/analyser/analyser.js';
import { largeFileBody } from '../../analysis/verdict/prediction.js';
import type { AudioRegion } from '../../base/addon/addon.js';
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
import { type FieldReader, FieldValidator } from './form-fields.js';
import { LargeFileIntake } from './large-file-intake.js';
import { regionOf } from './region.js';
import type { Route } from './route.js';

type ResolvedFields = LargeFileFields & { readonly region: AudioRegion };

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
  const validator = new FieldValidator<LargeFileFields>({ schemas: largeFileFieldSchemas(detectors) });
  const resolve = (fields: LargeFileFields): ResolvedFields => ({ ...fields, region: regionOf(fields) });
  const reader: FieldReader<ResolvedFields> = {
    names: validator.names,
    fromForm: (form) => resolve(validator.fromForm(form)),
    fromJson: (object) => resolve(validator.fromJson(object)),
  };
  const intake = new LargeFileIntake<ResolvedFields>(reader, files, limits, permits);
  const steps: AnalysisSteps<ResolvedFields> = {
    receive: (request) => intake.receive(request),
    plan: ({ model, region }, { record }) => ({
      model,
      ...region,
      silenceThresholdPercent: DEFAULT_SILENCE_THRESHOLD_PERCENT,
      minDurationS: MIN_DURATION_S,
      maxDurationS: maxLargeFileDurationS,
      longTimeoutMs: largeFileTimeoutMs,
      onProgress: progressLog(log, record.correlationId),
    }),
    separatesChannels: ({ channels }) => channels === 'separate',
    body: (analysis, fields, processingS, channels) => {
      const request = {
        model: fields.model,
        predictionId: fields.prediction_id ?? newPredictionId(),
        threshold: DEFAULT_THRESHOLD,
        silenceThresholdPercent: DEFAULT_SILENCE_THRESHOLD_PERCENT,
        channels,
      };
      return largeFileBody(analysis, request, processingS);
    },
  };
  return {
    ...largeFileEndpoint(config, detectors),
    handle: (request) => answerAnalysis(request, analyser, steps),
  };
}
