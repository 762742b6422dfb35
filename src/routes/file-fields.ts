// SPDX-License-Identifier: Apache-2.0
import { ServiceError } from '../errors/service-error.js';
import { isWellFormed, KEY, KEY_PREFIX, MAX_KEY_BYTES } from '../storage/object-name.js';
import type { FieldSchemas } from './form-fields.js';

/** The body of `POST /file`. */
export interface UploadLinkFields {
  readonly keys: readonly string[];
  readonly entity: string;
}

/** The query of `GET /file`. */
export interface DownloadLinkFields {
  readonly key_prefix: string;
  readonly entity: string;
}

/** The query of `DELETE /file`. */
export interface DeletionFields {
  readonly key: readonly string[];
  readonly entity: string;
}

const keyRules = `${MAX_KEY_BYTES} bytes, with no leading /, no segment . or .. and no control characters`;

const entity = {
  type: 'string',
  maxLength: 32,
  pattern: '^[a-z][a-z0-9_-]{0,31}$',
  expected: 'analysis, or another name of 1 to 32 of the characters a-z 0-9 _ - that starts with a letter',
  description: 'What the files are for; `analysis` is for files to be analysed.',
} as const;

export const uploadLinkSchemas: FieldSchemas = {
  keys: {
    type: 'array',
    minItems: 1,
    maxItems: 100,
    expected: 'an array of 1 to 100 object keys',
    description: 'Names of the objects to be uploaded.',
    items: {
      type: 'string',
      maxLength: MAX_KEY_BYTES,
      pattern: KEY.source,
      expected: `a key of 1 to ${keyRules}`,
    },
  },
  entity,
};

export const downloadLinkSchemas: FieldSchemas = {
  key_prefix: {
    type: 'string',
    maxLength: MAX_KEY_BYTES,
    pattern: KEY_PREFIX.source,
    expected: `the start of a key, of 0 to ${keyRules}`,
    description: 'How the keys of the wanted objects begin.',
  },
  entity,
};

export const deletionSchemas: FieldSchemas = {
  key: {
    type: 'array',
    minItems: 1,
    maxItems: 100,
    expected: '1 to 100 object keys',
    description: 'Names of the objects to be deleted: the parameter once for each.',
    items: uploadLinkSchemas.keys?.items,
  },
  entity,
};

/** What JSON Schema cannot say: it counts characters, and knows nothing of lone surrogates. */
export function refuseUnstorableKey(field: string, key: string): void {
  if (!isWellFormed(key)) {
    throw new ServiceError('FIELD_INVALID', {
      field,
      expected: 'text that has a form in UTF-8',
      received: 'half of a surrogate pair',
    });
  }
  const bytes = Buffer.byteLength(key);
  if (bytes <= MAX_KEY_BYTES) return;
  throw new ServiceError('FIELD_INVALID', {
    field,
    expected: `at most ${MAX_KEY_BYTES} bytes of UTF-8`,
    received: `${bytes} bytes`,
  });
}

/** @throws ServiceError FIELD_REPEATED for a known parameter that stands twice and is no list */
export function queryValues(query: string, schemas: FieldSchemas): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const [name, value] of new URLSearchParams(query)) {
    if (!Object.hasOwn(schemas, name)) continue;
    if (schemas[name]?.type === 'array') {
      values[name] = [...((values[name] ?? []) as string[]), value];
      continue;
    }
    if (Object.hasOwn(values, name)) throw new ServiceError('FIELD_REPEATED', { field: name });
    values[name] = value;
  }
  return values;
}
