// SPDX-License-Identifier: Apache-2.0
import type { BodyOf } from '../../base/contract/schema.js';

export const deliveryStates = ['waiting', 'sending', 'delivered', 'failed'] as const;

/** The delivery of a job's end to its `callback_url` (docs/webhooks.md). */
export const webhookLog = {
  title: 'WebhookLog',
  type: 'object',
  properties: {
    id: { type: 'string', description: 'The `webhook-id`; the same at each attempt.', minLength: 1 },
    state: {
      type: 'string',
      description: '`delivered` and `failed` are final, unless the operator has it sent again.',
      enum: deliveryStates,
    },
    next_attempt_at: {
      type: ['string', 'null'],
      format: 'date-time',
      description: 'Time of the next attempt; null if there is none.',
    },
    attempts: {
      type: 'array',
      description: 'The latest 24 at most, in the order of time.',
      items: {
        type: 'object',
        properties: {
          at: { type: 'string', format: 'date-time', description: 'Time of the request.' },
          took_ms: { type: 'integer', description: 'Milliseconds to the end of the answer.', minimum: 0 },
          status: { type: ['integer', 'null'], description: 'Status of the answer; null without one.' },
          problem: { type: ['string', 'null'], description: 'Why it failed; null if it did not.' },
        },
        required: ['at', 'took_ms', 'status', 'problem'],
        additionalProperties: false,
      },
    },
  },
  required: ['id', 'state', 'next_attempt_at', 'attempts'],
  additionalProperties: false,
} as const;

export type WebhookLog = BodyOf<typeof webhookLog>;
