// SPDX-License-Identifier: Apache-2.0
import type { FieldSchemas, FieldValues } from './fields.js';
import { MAX_KEY_BYTES, MAX_KEYS } from './limits.js';
import { KEY, KEY_PREFIX } from './object-key.js';
import type { Fields } from './operation.js';

const keyRules = `${MAX_KEY_BYTES} bytes, with no leading /, no segment . or .. and no control characters`;

const entity = {
  type: 'string',
  maxLength: 32,
  pattern: '^[a-z][a-z0-9_-]{0,31}$',
  expected: 'analysis, or another name of 1 to 32 of the characters a-z 0-9 _ - that starts with a letter',
  description: 'The purpose of the files; `analysis` is for files to analyse.',
} as const;

/** Of files to analyse. */
export const ANALYSIS_ENTITY = 'analysis';

/** The body of `POST /file`. */
export const uploadLinkSchemas = {
  keys: {
    type: 'array',
    minItems: 1,
    maxItems: MAX_KEYS,
    expected: `an array of 1 to ${MAX_KEYS} object keys`,
    description: 'Keys of the objects to upload.',
    items: {
      type: 'string',
      maxLength: MAX_KEY_BYTES,
      pattern: KEY.source,
      expected: `a key of 1 to ${keyRules}`,
    },
  },
  entity,
} as const satisfies FieldSchemas;

export const uploadLinkRequest = {
  schemas: uploadLinkSchemas,
  required: ['keys', 'entity'],
  example: { keys: ['recording.wav'], entity: 'analysis' },
} as const satisfies Fields;

export type UploadLinkFields = FieldValues<
  typeof uploadLinkSchemas,
  (typeof uploadLinkRequest.required)[number]
>;

/** The query of `GET /file`. */
export const downloadLinkSchemas = {
  key_prefix: {
    type: 'string',
    maxLength: MAX_KEY_BYTES,
    pattern: KEY_PREFIX.source,
    expected: `the start of a key, of 0 to ${keyRules}`,
    description: 'Start of the keys of the requested objects.',
  },
  entity,
} as const satisfies FieldSchemas;

export const downloadLinkRequest = {
  schemas: downloadLinkSchemas,
  required: ['key_prefix', 'entity'],
  example: { key_prefix: 'recording', entity: 'analysis' },
} as const satisfies Fields;

export type DownloadLinkFields = FieldValues<
  typeof downloadLinkSchemas,
  (typeof downloadLinkRequest.required)[number]
>;

/** The query of `DELETE /file`. */
const deletionSchemas = {
  key: {
    type: 'array',
    minItems: 1,
    maxItems: MAX_KEYS,
    expected: `1 to ${MAX_KEYS} object keys`,
    description:
      'Keys of the objects to delete; repeat the parameter for each. The address and all headers of a request may have 4,096 bytes together.',
    items: uploadLinkSchemas.keys.items,
  },
  entity,
} as const satisfies FieldSchemas;

export const deletionRequest = {
  schemas: deletionSchemas,
  required: ['key', 'entity'],
  example: { key: ['recording.wav'], entity: 'analysis' },
} as const satisfies Fields;

export type DeletionFields = FieldValues<typeof deletionSchemas, (typeof deletionRequest.required)[number]>;
