// SPDX-License-Identifier: Apache-2.0
import { ServiceError } from '../../base/errors/service-error.js';

/** The client's view of a file system error. */
export function diskFailure(cause: unknown): ServiceError {
  if (cause instanceof ServiceError) return cause;
  const { code } = cause as NodeJS.ErrnoException;
  const isFull = code === 'ENOSPC' || code === 'EDQUOT' || code === 'EFBIG';
  return new ServiceError(isFull ? 'STORAGE_FULL' : 'STORAGE_FAILED', {}, { cause });
}

/** @throws ServiceError STORAGE_FULL, STORAGE_FAILED, or the ServiceError that `work` rejects with */
export async function onDisk<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    throw diskFailure(error);
  }
}
