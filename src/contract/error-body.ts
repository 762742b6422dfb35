// SPDX-License-Identifier: Apache-2.0
import type { ServiceError } from '../errors/service-error.js';

/** What a client reads of a failure (service interface, sections 7.1 and 7.2). */
export function errorBody(failure: ServiceError, correlationId: string, now = new Date()): object {
  const { code, message, status } = failure;
  if (code !== 'forbidden_error') return { error: code, message, status, correlation_id: correlationId };
  return {
    statusCode: status,
    message: {
      detail: message,
      type: code,
      correlation_id: correlationId,
      timestamp: now.toISOString(),
    },
  };
}
