// SPDX-License-Identifier: Apache-2.0
import type { FieldSchemas } from '../../base/contract/fields.js';
import { MAX_KEY_BYTES } from '../../base/contract/limits.js';
import { isWellFormed } from '../../base/contract/object-key.js';
import { ServiceError } from '../../base/errors/service-error.js';

/** Beyond JSON Schema, which counts characters, and knows nothing of lone surrogates. */
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

/**
 * The known parameters of a query.
 * @throws ServiceError FIELD_REPEATED for a known parameter that stands twice and is no list
 */
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
