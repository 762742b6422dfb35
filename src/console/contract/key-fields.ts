// SPDX-License-Identifier: Apache-2.0
import type { FieldSchemas, FieldValues } from '../../base/contract/fields.js';
import {
  ACCOUNT,
  ACCOUNT_EXPECTED,
  MAX_KEY_CONCURRENCY,
  MAX_RATE_REQUESTS,
  MAX_RATE_WINDOW_S,
} from '../../base/contract/key-limits.js';
import { nameSchema } from '../../base/contract/names.js';
import type { Fields } from '../../base/contract/operation.js';
import { CURSOR, pageLimit } from '../../base/contract/paging.js';
import { scopes } from '../../base/contract/scopes.js';

const rateExpected = `requests (0 for no limit) and window_s, 1 to ${MAX_RATE_WINDOW_S}`;

const name = { ...nameSchema, description: 'The purpose of the key. Clients never see it.' } as const;

export const accountField = {
  type: 'string',
  pattern: ACCOUNT.source,
  expected: ACCOUNT_EXPECTED,
} as const;

const scopeList = {
  type: 'array',
  minItems: 1,
  maxItems: scopes.length,
  items: { type: 'string', enum: scopes, expected: `one of ${scopes.join(', ')}` },
  expected: `a list of ${scopes.join(', ')}`,
  description: 'The permissions of the key; `admin` includes all others, and only admins give it.',
} as const;

const rate = {
  type: ['object', 'null'],
  properties: {
    requests: { type: 'integer', minimum: 0, maximum: MAX_RATE_REQUESTS, expected: rateExpected },
    window_s: { type: 'integer', minimum: 1, maximum: MAX_RATE_WINDOW_S, expected: rateExpected },
  },
  required: ['requests', 'window_s'],
  additionalProperties: false,
  expected: rateExpected,
  description: "Requests per window; 0 for no limit, null for the server's own limit.",
} as const;

const concurrency = {
  type: ['integer', 'null'],
  minimum: 0,
  maximum: MAX_KEY_CONCURRENCY,
  expected: `a whole number up to ${MAX_KEY_CONCURRENCY}`,
  description: "Requests in flight at once; 0 for no limit, null for the server's own.",
} as const;

const expiresAt = {
  type: ['string', 'null'],
  maxLength: 40,
  pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]{1,9})?(Z|[+-][0-9]{2}:[0-9]{2})$',
  expected: 'a time such as 2027-01-31T12:00:00Z',
  description: 'The key is refused from then on; null for never.',
} as const;

/** The body of `POST /v1/admin/keys`. */
const newKeySchemas = {
  name,
  account: {
    ...accountField,
    description:
      'Whose key it is: keys of one account share stored files and jobs. By default, `default` or your own account.',
  },
  scopes: scopeList,
  rate,
  concurrency,
  expires_at: expiresAt,
} as const satisfies FieldSchemas;

export const newKeyRequest = {
  title: 'AdminNewKey',
  schemas: newKeySchemas,
  required: ['name', 'scopes'],
  example: { name: 'batch jobs', scopes: ['predict', 'file'], rate: { requests: 600, window_s: 60 } },
} as const satisfies Fields;

/** The body of `PATCH /v1/admin/keys/{id}`. */
const keyChangeSchemas = {
  name,
  scopes: scopeList,
  rate,
  concurrency,
  expires_at: expiresAt,
} as const satisfies FieldSchemas;

export const keyChangeRequest = {
  title: 'AdminKeyChange',
  schemas: keyChangeSchemas,
  example: { rate: null, expires_at: '2099-01-31T12:00:00Z' },
} as const satisfies Fields;

/** The query of `GET /v1/admin/keys`. */
const keyListSchemas = {
  account: { ...accountField, description: 'Only keys of this account.' },
  state: {
    type: 'string',
    enum: ['active'],
    expected: 'active',
    description: 'Only keys that are neither expired nor revoked.',
  },
  kind: {
    type: 'string',
    enum: ['program', 'page'],
    expected: 'program or page',
    description: 'Only keys for programs, or only the keys that the pages of the dashboard use.',
  },
  limit: { ...pageLimit, description: 'Keys per page.' },
  cursor: CURSOR,
} as const satisfies FieldSchemas;

export const keyListRequest = {
  schemas: keyListSchemas,
  example: { state: 'active', limit: '100' },
} as const satisfies Fields;

export type NewKeyFields = FieldValues<typeof newKeySchemas, 'name' | 'scopes'>;
export type KeyChangeFields = FieldValues<typeof keyChangeSchemas>;
export type KeyListFields = FieldValues<typeof keyListSchemas>;
