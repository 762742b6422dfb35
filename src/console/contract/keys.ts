// SPDX-License-Identifier: Apache-2.0
import { nextCursor } from '../../base/contract/paging.js';
import type { BodyOf, Schema } from '../../base/contract/schema.js';
import { moment } from '../../base/contract/schema-parts.js';
import { scopes } from '../../base/contract/scopes.js';

const properties = {
  id: { type: 'string', description: 'Its public part, also in the log.', pattern: '^[0-9a-f]{12}$' },
  name: { type: 'string', description: 'Its purpose. Any text: show it as text, never as markup.' },
  account: { type: 'string', description: 'Whose key it is.', minLength: 1 },
  scopes: { type: 'array', description: 'Its permissions.', items: { type: 'string', enum: scopes } },
  ends_with_session: {
    type: 'boolean',
    description: 'A page of the dashboard has made it for itself, and it ends with the session.',
  },
  active: { type: 'boolean', description: 'Neither expired nor revoked.' },
  rate: {
    type: ['object', 'null'],
    description: "Requests per window, 0 for no limit; null for the server's own limit.",
    properties: { requests: { type: 'integer', minimum: 0 }, window_s: { type: 'integer', minimum: 1 } },
    required: ['requests', 'window_s'],
    additionalProperties: false,
  },
  concurrency: {
    type: ['integer', 'null'],
    description: "Requests in flight at once, 0 for no limit; null for the server's own limit.",
    minimum: 0,
  },
  created_at: { type: 'string', format: 'date-time', description: 'Time of its creation.' },
  expires_at: moment('From then on it is refused; null if it does not expire.'),
  revoked_at: moment('Time of its revocation; null without one.'),
  last_used_day: {
    type: ['string', 'null'],
    description: 'The last UTC day on which a request came with it; null without any in the kept usage.',
    pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}$',
  },
} as const;

const names = [
  'id',
  'name',
  'account',
  'scopes',
  'ends_with_session',
  'active',
  'rate',
  'concurrency',
  'created_at',
  'expires_at',
  'revoked_at',
  'last_used_day',
] as const;

const example = {
  id: '0123456789ab',
  name: 'batch jobs',
  account: 'acme',
  scopes: ['predict', 'file'],
  ends_with_session: false,
  active: true,
  rate: { requests: 600, window_s: 60 },
  concurrency: null,
  created_at: '2026-11-22T10:00:00.000Z',
  expires_at: null,
  revoked_at: null,
  last_used_day: '2026-11-23',
} as const;

/** A key without its secret, which the server does not have. */
export const adminKey = {
  title: 'AdminKey',
  type: 'object',
  properties,
  required: names,
  additionalProperties: false,
  examples: [example],
} as const satisfies Schema;

/** The answer of `POST /v1/admin/keys`. */
export const adminCreatedKey = {
  title: 'AdminCreatedKey',
  type: 'object',
  properties: {
    ...properties,
    key: { type: 'string', description: 'The key itself, with its secret. It is shown only once.' },
  },
  required: [...names, 'key'],
  additionalProperties: false,
  examples: [{ ...example, key: `vx_0123456789ab_${'x'.repeat(43)}` }],
} as const satisfies Schema;

/** The answer of `GET /v1/admin/keys`. */
export const adminKeyList = {
  title: 'AdminKeyList',
  type: 'object',
  properties: {
    keys: { type: 'array', description: 'The newest first.', items: adminKey },
    next_cursor: nextCursor,
  },
  required: ['keys', 'next_cursor'],
  additionalProperties: false,
  examples: [{ keys: [example], next_cursor: null }],
} as const satisfies Schema;

export type AdminKey = BodyOf<typeof adminKey>;
export type AdminCreatedKey = BodyOf<typeof adminCreatedKey>;
export type AdminKeyList = BodyOf<typeof adminKeyList>;
