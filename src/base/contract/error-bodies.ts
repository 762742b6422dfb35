// SPDX-License-Identifier: Apache-2.0
import { errorCodes } from '../errors/catalogue-entry.js';
import { correlationId } from './identifiers.js';
import type { BodyOf } from './schema.js';

/** The body of every error except the one for AI-generated voices (docs/api.md#errors). */
export const errorBody = {
  title: 'ErrorBody',
  type: 'object',
  properties: {
    error: {
      type: 'string',
      description: 'Machine-readable code.',
      enum: errorCodes,
    },
    message: { type: 'string', description: 'Explanation for people.', minLength: 1 },
    status: { type: 'integer', description: 'The HTTP status code.', minimum: 400, maximum: 599 },
    correlation_id: correlationId,
  },
  required: ['error', 'message', 'status', 'correlation_id'],
  additionalProperties: false,
  examples: [
    {
      error: 'validation_error',
      message:
        'Expected a number from 0 to 1 or the name of an operating point for threshold but received "2".',
      status: 400,
      correlation_id: 'a1b2c3d4-e5f6-7890-abcd-ef1234567890',
    },
  ],
} as const;

export type ErrorBody = BodyOf<typeof errorBody>;

/** The refusal of an AI-generated voice (docs/api.md#ai-generated-voices). */
export const forbiddenErrorBody = {
  title: 'ForbiddenErrorBody',
  type: 'object',
  properties: {
    statusCode: { type: 'integer', const: 403 },
    message: {
      type: 'object',
      properties: {
        detail: {
          type: 'string',
          description: 'Explanation for people, with the confidence as a percentage.',
          pattern: '\\d ?%',
        },
        type: { type: 'string', const: 'forbidden_error' },
        correlation_id: correlationId,
        timestamp: {
          type: 'string',
          description: 'Time of the answer, as ISO 8601 in UTC.',
          pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(\\.\\d+)?Z$',
        },
      },
      required: ['detail', 'type', 'correlation_id', 'timestamp'],
      additionalProperties: false,
    },
  },
  required: ['statusCode', 'message'],
  additionalProperties: false,
} as const;

export type ForbiddenErrorBody = BodyOf<typeof forbiddenErrorBody>;
