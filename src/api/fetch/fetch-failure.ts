// SPDX-License-Identifier: Apache-2.0
import { ServiceError } from '../../base/errors/service-error.js';

/**
 * The part of a network error that a log may show. Node hangs whole certificates, addresses and received bytes on its errors,
 * and the logger would write them all.
 */
function causeOf({ code, message }: NodeJS.ErrnoException): Error {
  return new Error(code === undefined || message.includes(code) ? message : `${code}: ${message}`);
}

export const unreachable = (error: Error): ServiceError =>
  new ServiceError('FETCH_UNREACHABLE', {}, { cause: causeOf(error) });

/** The error of a fetch that its clock ends. */
export const timedOut = (problem: string): ServiceError => new ServiceError('FETCH_TIMEOUT', { problem });

export const insecure = (error: Error): ServiceError =>
  new ServiceError('FETCH_INSECURE', {}, { cause: causeOf(error) });

/** The refusal of an answer with this status and encoding; undefined for one with a file. */
export function refusalOf(status: number, encoding = 'identity'): ServiceError | undefined {
  if (status >= 300 && status < 400) return new ServiceError('FETCH_REDIRECTED', { status });
  if (status >= 400 && status < 500) return new ServiceError('FETCH_STATUS_REFUSED', { status });
  if (status !== 200) return new ServiceError('FETCH_FAILED', { status });
  if (encoding.toLowerCase() === 'identity' || encoding === '') return undefined;
  return new ServiceError('FETCH_ENCODED', { encoding: JSON.stringify(encoding.slice(0, 40)) });
}
