// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Scope, scopes } from '../../src/base/contract/scopes.js';
import { allows } from '../../src/state/keys/api-key.js';
import { fileEntry, formBody } from '../support/form-body.js';
import { predict, predictHead, RawClient } from '../support/http-client.js';
import { keysOf, withKey } from '../support/keys.js';
import { startTestServer } from '../support/test-server.js';

const body = formBody([fileEntry('x')]);

test('a key without the scope of the route is 403, before any of the body is read', async (t) => {
  const keys = keysOf(
    { id: 'none', scopes: new Set() },
    { id: 'others', scopes: new Set(['voiceid', 'file']) },
  );
  const { port, analyser, metric } = await startTestServer(t, {}, { keys });
  for (const id of ['none', 'others']) {
    const client = await RawClient.connect(port);
    await client.write(predictHead({ ...withKey(id), 'content-length': 1_000_000 }));
    const answer = await client.until(/\}\r\n$/);
    client.socket.destroy();
    assert.match(answer, /^HTTP\/1\.1 403 Forbidden\r\n/);
    assert.match(
      answer,
      /"error":"forbidden","message":"The API key lacks the scope predict\.","status":403/,
    );
  }
  assert.equal(analyser.requests.length, 0);
  assert.equal(await metric('veravox_errors_total{key="FORBIDDEN"}'), 2);
});

test('a scope opens its own routes only, admin opens all', () => {
  for (const granted of scopes) {
    for (const wanted of scopes) {
      const expected = granted === wanted || granted === 'admin';
      assert.equal(allows(new Set([granted]), wanted), expected, `${granted} for ${wanted}`);
    }
  }
  assert.equal(allows(new Set<Scope>(['voiceid', 'predict']), 'predict'), true);
});

test('the scope of the route, or admin, is enough', async (t) => {
  const keys = keysOf({ id: 'predict' }, { id: 'admin', scopes: new Set(['admin']) });
  const { port } = await startTestServer(t, {}, { keys });
  for (const id of ['predict', 'admin']) {
    assert.equal((await predict(port, body, { headers: withKey(id) })).status, 200);
  }
});
