// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { reasons } from '../../src/analysis/verdict/reasons.js';
import { type CatalogueEntry, catalogue, type ErrorKey } from '../../src/base/errors/catalogue.js';
import { ServiceError } from '../../src/base/errors/service-error.js';

const entries = Object.entries(catalogue) as [ErrorKey, CatalogueEntry][];
// Tests run from the root of the package.
const docs = (name: string): string => readFileSync(path.resolve('docs', name), 'utf8');

test('docs/errors.md lists exactly the catalogue', () => {
  const page = docs('errors.md');
  const documented = [...page.matchAll(/^\| `([A-Z_]+)` \|/gm)].map(([, key]) => key);
  assert.deepEqual(documented, Object.keys(catalogue));
});

test('docs/reasons.md lists exactly the reasons', () => {
  const page = docs('reasons.md');
  // Tables of figures have more columns.
  const documented = [...page.matchAll(/^\| `([a-z_]+)` \|[^|\n]*\|$/gm)].map(([, reason]) => reason);
  assert.deepEqual(documented, Object.keys(reasons));
});

test('one code stands for one status, as docs/api.md has it', () => {
  const statuses: Record<string, number[]> = {
    // S3 clients expect 416 for an unsatisfiable range, and HTTP defines 426 for a path for WebSockets. 409 only ends streams.
    // 412 and 501 are S3's, for another ETag and for operations that a storage lacks.
    validation_error: [400, 409, 412, 416, 422, 426, 501],
    // v0 answers a refused key with 403.
    unauthorized: [401, 403],
    forbidden: [403],
    // Its body has its own shape (docs/api.md#ai-generated-voices).
    forbidden_error: [403],
    not_found: [404],
    method_not_allowed: [405],
    timeout: [408],
    payload_too_large: [413],
    unsupported_format: [422],
    rate_limited: [429],
    internal_error: [500],
    unavailable: [503],
  };
  for (const [key, { code, status }] of entries) assert.ok(statuses[code]?.includes(status), key);
});

test('what may be tried again says when', () => {
  for (const [key, { status, retryAfterS }] of entries) {
    assert.equal(retryAfterS !== undefined, status === 429 || status === 503, key);
  }
});

test('what knows how long it lasts says so, in the sentence and in the number', () => {
  for (const [key, { retryAfterS }] of entries) {
    if (retryAfterS === undefined) continue;
    const error = new ServiceError(key, { retryAfterS: 77 });
    assert.equal(error.retryAfterS, 77, key);
    assert.match(error.message, /retry after 77 s/, key);
    const byDefault = new ServiceError(key);
    assert.equal(byDefault.retryAfterS, retryAfterS === 'known' ? 1 : retryAfterS, key);
    assert.ok(byDefault.message.includes(`retry after ${byDefault.retryAfterS} s`), key);
  }
});

test('a message has every value that its sentence names', () => {
  for (const [key, { message }] of entries) {
    const names = [...message.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string);
    const error = new ServiceError(key, Object.fromEntries(names.map((name) => [name, `<${name}>`])));
    for (const name of names) assert.ok(error.message.includes(`<${name}>`), key);
    assert.doesNotMatch(error.message, /\{|\}/, key);
  }
});
