// SPDX-License-Identifier: Apache-2.0
import type { FieldSchemas, FieldValues } from '../../base/contract/fields.js';
import type { Fields } from '../../base/contract/operation.js';
import type { BodyOf, Schema } from '../../base/contract/schema.js';
import { accountField } from './key-fields.js';

export const MAX_USAGE_ROWS = 50_000;
export const DEFAULT_USAGE_DAYS = 30;

const day = (description: string) =>
  ({ type: 'string', pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}$', description }) as const;
const expected = 'a day such as 2026-11-01';

/** The query of `GET /v1/admin/usage` and `/v1/admin/usage.csv`. */
const usageSchemas = {
  from: { ...day(`First UTC day; ${DEFAULT_USAGE_DAYS - 1} days before \`to\` if absent.`), expected },
  to: { ...day('Last UTC day, inclusive; today if absent.'), expected },
  key: {
    type: 'string',
    pattern: '^[0-9a-f]{12}$',
    expected: '12 hexadecimal digits',
    description: 'Only the key with this id.',
  },
  account: { ...accountField, description: 'Only keys of this account.' },
  by: {
    type: 'string',
    enum: ['key', 'route'],
    default: 'key',
    expected: 'key or route',
    description: 'One row per day and key, or one for each of its routes.',
  },
} as const satisfies FieldSchemas;

export const usageRequest = {
  schemas: usageSchemas,
  example: { from: '2026-11-01', to: '2026-11-30' },
} as const satisfies Fields;

export type UsageFields = FieldValues<typeof usageSchemas>;

const count = (description: string) => ({ type: 'integer', description, minimum: 0 }) as const;

const counts = {
  requests: count('Requests, and jobs that ended.'),
  errors: count('Of these, those without success.'),
  audio_s: { type: 'number', description: 'Seconds of analysed audio.', minimum: 0 },
  windows: count('Windows that were scored.'),
  bytes: count('Bytes of request bodies that arrived in full.'),
} as const;

const countNames = ['requests', 'errors', 'audio_s', 'windows', 'bytes'] as const;

/** A row: the usage of one key on one day. */
const usageRow = {
  title: 'AdminUsageRow',
  type: 'object',
  properties: {
    day: day('UTC day.'),
    account: { type: 'string', description: 'The account of the key.' },
    key_id: { type: 'string', description: 'Id of the key.' },
    key_name: {
      type: ['string', 'null'],
      description: 'Its name, any text; null if the key is gone.',
    },
    ends_with_session: {
      type: 'boolean',
      description:
        'A page of the dashboard has made the key for itself; such keys are removed when they are over.',
    },
    route: { type: ['string', 'null'], description: 'Path of the route, `job` for jobs; null by key.' },
    ...counts,
  },
  required: ['day', 'account', 'key_id', 'key_name', 'ends_with_session', 'route', ...countNames],
  additionalProperties: false,
} as const satisfies Schema;

const totals = {
  requests: 4711,
  errors: 12,
  audio_s: 36_000.5,
  windows: 7200,
  bytes: 1_200_000_000,
} as const;

/** The answer of `GET /v1/admin/usage`. */
export const adminUsage = {
  title: 'AdminUsage',
  type: 'object',
  properties: {
    from: day('First UTC day.'),
    to: day('Last UTC day.'),
    rows: {
      type: 'array',
      description: 'By day, account and key. There are no rows for days without requests.',
      items: usageRow,
    },
    totals: {
      title: 'AdminUsageTotals',
      type: 'object',
      properties: counts,
      required: countNames,
      additionalProperties: false,
    },
  },
  required: ['from', 'to', 'rows', 'totals'],
  additionalProperties: false,
  examples: [
    {
      from: '2026-11-01',
      to: '2026-11-30',
      rows: [
        {
          day: '2026-11-22',
          account: 'acme',
          key_id: '0123456789ab',
          key_name: 'batch jobs',
          ends_with_session: false,
          route: null,
          ...totals,
        },
      ],
      totals,
    },
  ],
} as const satisfies Schema;

export type AdminUsage = BodyOf<typeof adminUsage>;
export type AdminUsageRow = BodyOf<typeof usageRow>;
export type AdminUsageTotals = AdminUsage['totals'];
