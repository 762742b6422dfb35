// SPDX-License-Identifier: Apache-2.0
import { ServiceError } from '../../base/errors/service-error.js';
import type { AnalysisRequest, MissedLook } from '../analyser/analyser.js';
import type { PrepareResult } from '../prepare/prepare-task.js';

/** A message of native/decode/decoder.cc that repeats ours. */
const NOT_RECOGNISED = 'The file is not in any of the supported formats.';

type PrepareFailure = Pick<Extract<PrepareResult, { ok: false }>, 'code' | 'message' | 'measuredS'>;

// Seconds for people: 0.75, 600.1, never 0.7500000001; rounded away from the missed limit, so that no message says that
// 3 s are less than 3 s.
const roundingErrorMs = 1e-6;
const readableBelow = (seconds: number): number => Math.floor(seconds * 1000 + roundingErrorMs) / 1000;
const readableAbove = (seconds: number): number => Math.ceil(seconds * 1000 - roundingErrorMs) / 1000;

/** The deadline that a second look has missed: the first one's verdict holds without it. @throws `error` if it is another */
export function missedLookOf(error: unknown): MissedLook {
  if (error instanceof ServiceError && (error.key === 'QUEUE_DEADLINE' || error.key === 'ANALYSIS_TIMEOUT'))
    return error.key;
  throw error;
}

/** The client's error for a failed stage. */
export function toServiceError(
  failure: PrepareFailure,
  request: Pick<AnalysisRequest, 'minDurationS' | 'maxDurationS' | 'startS' | 'endS'>,
  timeoutMs: number,
): ServiceError {
  const { measuredS } = failure;
  switch (failure.code) {
    case 'UNSUPPORTED_FORMAT':
      return new ServiceError('UNSUPPORTED_FORMAT', {
        problem: failure.message === NOT_RECOGNISED ? 'it begins like none of them.' : failure.message,
      });
    case 'NO_AUDIO_STREAM':
      return new ServiceError('NO_AUDIO_STREAM');
    case 'UNDECODABLE':
    case 'TOO_MANY_CHANNELS':
    case 'SAMPLE_RATE_OUT_OF_RANGE':
      return new ServiceError('UNDECODABLE', { problem: failure.message });
    case 'TOO_LONG':
      return new ServiceError('AUDIO_TOO_LONG', {
        measuredS: readableAbove(measuredS),
        allowedS: request.maxDurationS,
      });
    case 'TOO_SHORT':
      return new ServiceError('AUDIO_TOO_SHORT', {
        measuredS: readableBelow(measuredS),
        requiredS: request.minDurationS,
      });
    case 'OUT_OF_RANGE':
      return new ServiceError('REGION_OUT_OF_RANGE', {
        measuredS: readableBelow(measuredS),
        startS: request.startS ?? 0,
        end: request.endS === undefined ? 'the end' : `${request.endS} s`,
      });
    case 'REFUSED':
      return new ServiceError('INPUT_REFUSED');
    case 'DEADLINE':
      return new ServiceError('ANALYSIS_TIMEOUT', { timeoutMs });
    // The cancelling code has settled the run, and so has the failed source: nobody sees these.
    case 'CANCELLED':
    case 'SOURCE_FAILED':
    case 'INTERNAL':
      return new ServiceError('INTERNAL', {}, { cause: new Error(failure.message) });
  }
}
