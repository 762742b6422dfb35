// SPDX-License-Identifier: Apache-2.0
import type { ServiceError } from '../errors/service-error.js';
import { type ErrorBody, type ForbiddenErrorBody, forbiddenErrorBody } from './error-bodies.js';

/** The body that a client gets for a failure. */
export function errorBody(
  failure: ServiceError,
  correlationId: string,
  now = new Date(),
): ErrorBody | ForbiddenErrorBody {
  const { code, message, status } = failure;
  if (code !== 'forbidden_error') return { error: code, message, status, correlation_id: correlationId };
  return {
    statusCode: forbiddenErrorBody.properties.statusCode.const,
    message: {
      detail: message,
      type: code,
      correlation_id: correlationId,
      timestamp: now.toISOString(),
    },
  };
}
