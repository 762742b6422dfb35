// SPDX-License-Identifier: Apache-2.0
import type { AdminEndpoint } from '../../base/contract/endpoint.js';
import type { BodyOf, Schema } from '../../base/contract/schema.js';
import { scopes } from '../../base/contract/scopes.js';

const playgroundKey = {
  title: 'PlaygroundKey',
  type: 'object',
  properties: {
    key: { type: 'string', description: 'For the header `x-api-key`. It is shown only once.' },
    id: { type: 'string', description: 'Its id in logs and usage.' },
    scopes: {
      type: 'array',
      items: { type: 'string', enum: scopes },
      description: 'Its scopes.',
    },
    expires_at: { type: 'string', description: 'End of the key, unless the session ends earlier.' },
  },
  required: ['key', 'id', 'scopes', 'expires_at'],
  additionalProperties: false,
  examples: [
    {
      key: 'vx_0123456789ab_pD0mBbJ7g0c1a5yqUQyD2c5nQ1m8q0VYg2g4k2m6d9E',
      id: '0123456789ab',
      scopes: ['predict', 'voiceid', 'file'],
      expires_at: '2026-11-21T13:00:00.000Z',
    },
  ],
} as const satisfies Schema;

export type PlaygroundKey = BodyOf<typeof playgroundKey>;

export const playgroundKeyCreation: AdminEndpoint = {
  method: 'POST',
  path: '/v1/admin/playground-key',
  role: 'developer',
  operation: {
    id: 'createPlaygroundKey',
    tag: 'Admin',
    summary: 'Create an API key for the playground, for an hour.',
    description:
      "It has the user's account and ends with the session. A session has up to 20; another one ends the oldest.",
    answers: { 201: { description: 'The key.', schema: playgroundKey } },
    errors: ['SESSION_REQUIRED'],
  },
};
