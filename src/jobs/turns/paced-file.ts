// SPDX-License-Identifier: Apache-2.0
import type { ByteSource } from '../../base/byte-source/byte-source.js';
import { PacedSource } from '../../base/byte-source/paced-source.js';
import { ServiceError } from '../../base/errors/service-error.js';
import type { JobSource } from '../queue/job-text.js';
import type { TurnSlice } from './turn-slice.js';

/** A file whose bytes must not come so slowly that others wait for the worker. If they do, it is as if none had come: it is tried again. */
export const pacedFile = (opened: ByteSource, from: JobSource, slice: TurnSlice): ByteSource =>
  new PacedSource(opened, {
    failure: (problem) => tooSlow(from, problem),
    mustEnd: () => slice.isOverdue(),
  });

function tooSlow(from: JobSource, problem: string): ServiceError {
  if ('link' in from) return new ServiceError('FETCH_TIMEOUT', { problem });
  return new ServiceError('STORAGE_UNAVAILABLE', {}, { cause: new Error(`The storage ${problem}.`) });
}
