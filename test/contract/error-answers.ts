// SPDX-License-Identifier: Apache-2.0
//
// Promised in docs/api.md#errors.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { human } from './support/audio.js';
import { type Answer, postForm, postJson, send } from './support/client.js';
import { endpoints, nameOf } from './support/endpoints.js';
import { expectError } from './support/judge.js';
import { wav } from './support/wav.js';

const callersOwn = '0f8fad5b-d9cb-469f-a165-70867728950e';
const withId = { headers: { 'x-correlation-id': callersOwn } };

describe('Standard error body', () => {
  const errors: Record<string, [status: 400 | 401 | 404 | 405 | 422, ask: () => Promise<Answer>]> = {
    'a field out of range': [400, () => postForm('/v1/predict', { file: wav(human(5)), threshold: '2' })],
    'a missing file': [400, () => postForm('/v1/predict/large-file', {})],
    'a body that is no JSON': [400, () => postJson('/v1/file', '{')],
    'a missing key': [401, () => send('/v1/file', { key: null })],
    'an unknown path': [404, () => send('/v1/unknown')],
    'a wrong method': [405, () => send('/v1/predict', { method: 'PUT' })],
    'what is no audio': [422, () => postForm('/v1/predict', { file: Buffer.from('no audio') })],
  };
  for (const [name, [status, ask]] of Object.entries(errors)) {
    test(`${name}: error, message, status, correlation_id and nothing else`, async () => {
      const { message } = expectError(await ask(), status);
      assert.ok(!/\n|node_modules|\.js:\d/.test(message), `a sentence for people, no trace: ${message}`);
    });
  }

  test('a path with markup in it is not repeated as markup', async () => {
    const answer = await send('/v1/%3Cscript%3E');
    expectError(answer, 404);
    assert.match(String(answer.headers['content-type']), /^application\/json\b/);
  });
});

describe('correlation_id', () => {
  for (const endpoint of endpoints) {
    test(`of ${nameOf(endpoint)} is the caller's own UUID, in good and bad answers`, async () => {
      const good = await endpoint.send(withId);
      assert.equal(good.headers['x-correlation-id'], callersOwn);
      const bad = await endpoint.send({ ...withId, key: null });
      const status = endpoint.version === 'v1' ? 401 : 403;
      assert.equal(expectError(bad, status, /./, 'unauthorized').correlation_id, callersOwn);
    });
  }

  test('is the callers own where there is no endpoint, too', async () => {
    assert.equal(expectError(await send('/v1/unknown', withId), 404).correlation_id, callersOwn);
    assert.equal(
      expectError(await send('/v1/predict', { ...withId, method: 'PUT' }), 405).correlation_id,
      callersOwn,
    );
  });

  test('may have capital letters, and may be nil', async () => {
    for (const id of [callersOwn.toUpperCase(), '00000000-0000-0000-0000-000000000000']) {
      const answer = await send('/v1/unknown', { headers: { 'x-correlation-id': id } });
      assert.equal(expectError(answer, 404).correlation_id.toLowerCase(), id.toLowerCase());
    }
  });

  test('is a new one for each request', async () => {
    const ids = await Promise.all(
      [1, 2, 3].map(async () => expectError(await send('/v1/x'), 404).correlation_id),
    );
    assert.equal(new Set(ids).size, 3);
  });

  for (const other of [
    '1',
    'not-a-uuid',
    `${callersOwn}0`,
    callersOwn.replaceAll('-', ''),
    `{${callersOwn}}`,
  ]) {
    test(`is not the caller's ${other}, which is no UUID`, async () => {
      const answer = await send('/v1/unknown', { headers: { 'x-correlation-id': other } });
      assert.notEqual(expectError(answer, 404).correlation_id, other);
    });
  }
});
