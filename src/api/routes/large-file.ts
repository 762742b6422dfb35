// SPDX-License-Identifier: Apache-2.0
import type { Analyser, AnalysisRequest } from '../../analysis/analyser/analyser.js';
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
import { ServiceError } from '../../base/errors/service-error.js';
import type { Logger } from '../../base/observe/log.js';
import { progressLog } from '../../base/observe/progress-log.js';
import type { OperatingPoints } from '../../state/operating-points/operating-points.js';
import type { BytePermits } from '../admission/byte-permits.js';
import type { FileIntake, InputLimits } from './analysis-input.js';
import { analyseFile, answerInput, askedIn, warned } from './answer-analysis.js';
import { FieldValidator, resolvedReader } from './form-fields.js';
import { LargeFileIntake } from './large-file-intake.js';
import { adjustmentFor } from './profile-field.js';
import { regionOf } from './region.js';
import { jsonReply, type Route } from './route.js';

type ResolvedFields = LargeFileFields & {
  readonly part: AudioRegion & Pick<AnalysisRequest, 'adjustScore'>;
};

/** `POST /v1/predict/large-file`: the same question as `POST /v1/predict`, of hours of audio. */
export function largeFileRoute(
  config: Config,
  analyser: Analyser,
  files: FileIntake,
  permits: BytePermits,
  points: OperatingPoints,
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
  const resolve = (fields: LargeFileFields, account: string | undefined): ResolvedFields => ({
    ...fields,
    part: { ...regionOf(fields), adjustScore: adjustmentFor(fields, { analyser, points }, account) },
  });
  const intake = new LargeFileIntake<ResolvedFields>(files, limits, permits);
  const threshold = DEFAULT_THRESHOLD;
  const silenceThresholdPercent = DEFAULT_SILENCE_THRESHOLD_PERCENT;
  return {
    ...largeFileEndpoint(config, detectors),
    async handle(request) {
      const reader = resolvedReader(validator, (fields) => resolve(fields, request.caller?.account));
      const input = await intake.receive(request, reader);
      return answerInput(request, input, async (elapsedS) => {
        const { model, ...fields } = input.fields;
        const plan = {
          region: input.region,
          model,
          silenceThresholdPercent,
          minDurationS: MIN_DURATION_S,
          maxDurationS: maxLargeFileDurationS,
          ...fields.part,
          longTimeoutMs: largeFileTimeoutMs,
          onProgress: progressLog(log, request.record.correlationId),
        };
        const { analysis, channels } = await analyseFile(request, analyser, plan, fields.channels);
        const asked = { ...askedIn(fields), model, threshold, silenceThresholdPercent, channels };
        return jsonReply(200, warned(largeFileBody(analysis, asked, elapsedS()), request));
      });
    },
  };
}
