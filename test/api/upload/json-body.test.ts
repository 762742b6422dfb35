// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseObject } from '../../../src/api/upload/json-body.js';
import type { ServiceError } from '../../../src/base/errors/service-error.js';

const refused =
  (message: RegExp) =>
  ({ key, message: text }: ServiceError): boolean =>
    key === 'JSON_MALFORMED' && message.test(text);

const parsed = (text: string): unknown => parseObject(Buffer.from(text));

test('a name that stands twice in an object is refused, since programs differ in which one counts', () => {
  for (const text of [
    '{"a":1,"a":1}',
    '{"a":1,"b":{"a":[]},"a":2}',
    '{"a" :1,"b":2, "a"\t:3}',
    String.raw`{"a":1,"\u0061":2}`,
    '{"a":[{"a":1,"a":2}]}',
    '{"a":{"x":",:","a":1},"a":"}"}',
    '{"__proto__":1,"__proto__":2}',
  ]) {
    assert.throws(
      () => parsed(text),
      refused(/^The body is not a JSON object: it has the name "\w+" twice\.$/),
      text,
    );
  }
  assert.throws(
    () => parsed('{"\u202ex":1,"\u202ex":2}'),
    refused(/"\\u202ex" twice/),
    'nothing invisible is shown',
  );
});

test('the same name in different objects, and as a value, is fine', () => {
  for (const text of ['{"a":{"a":{"a":"a"}}}', '{"a":[{"a":1},{"a":2}]}', '{"a":"a","b":"a:","c":["a","a"]}'])
    assert.deepEqual(parsed(text), JSON.parse(text));
});

test('an empty body is called empty', () => {
  assert.throws(() => parsed(''), refused(/: it is empty\.$/));
});
