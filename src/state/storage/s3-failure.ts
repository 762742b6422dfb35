// SPDX-License-Identifier: Apache-2.0
import { ServiceError } from '../../base/errors/service-error.js';

/** Undefined without an answer. */
export const statusOf = (error: unknown): number | undefined =>
  (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode;

/** Whether the storage says that it has no such object: a bucket, or a whole service, can be missing with the same status. */
export const isMissingObject = (error: unknown): boolean =>
  statusOf(error) === 404 && (error as Error).name === 'NoSuchKey';

/** Missing credentials also make the storage unavailable; the log has the cause. */
export const unavailable = (cause: unknown): ServiceError =>
  cause instanceof ServiceError ? cause : new ServiceError('STORAGE_UNAVAILABLE', {}, { cause });

/** Of an operation on an object that should exist. */
export function objectFailure(cause: unknown): ServiceError {
  if (isMissingObject(cause)) return new ServiceError('OBJECT_NOT_FOUND');
  const status = statusOf(cause);
  if (status === 412 || status === 416) return new ServiceError('FILE_CHANGED');
  return unavailable(cause);
}

/** An answer that cannot be true. */
export const wrongAnswer = (problem: string): ServiceError =>
  new ServiceError('STORAGE_UNAVAILABLE', {}, { cause: new Error(`The storage ${problem}.`) });
