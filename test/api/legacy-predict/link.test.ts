// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { startFakeStorage } from '../../support/fake-storage.js';
import { noise } from '../../support/form-body.js';
import { type Answer, postForm } from '../../support/http-client.js';
import { startTestServer, type TestServer } from '../../support/test-server.js';

const MAX_BYTES = 4_000_000;
const file = noise(MAX_BYTES + 1);

const postJson = (port: number, body: object, path = '/v0/predict'): Promise<Answer> =>
  postForm(port, path, Buffer.from(JSON.stringify(body)), {
    headers: { 'content-type': 'application/json' },
  });

/** A storage that serves the number of bytes in the path, and a server that may fetch from it. */
async function start(t: TestContext): Promise<TestServer & { readonly link: (bytes: number) => string }> {
  const storage = await startFakeStorage(t, (request, response) =>
    response.end(file.subarray(0, Number(request.url?.slice(1)))),
  );
  const server = await startTestServer(t, {}, { storagePrefixes: () => [storage.origin] });
  return { ...server, link: (bytes) => `${storage.origin}/${bytes}` };
}

test('a linked file below, at and above 4 MB; too large is 400, as in the form', async (t) => {
  const { port, link, analyser, arena } = await start(t);
  for (const bytes of [MAX_BYTES - 1, MAX_BYTES]) {
    const answer = await postJson(port, { presigned_url: link(bytes) });
    assert.equal(answer.status, 200, answer.text);
    const sha256 = createHash('sha256').update(file.subarray(0, bytes)).digest('hex');
    assert.equal(analyser.hashes.at(-1), sha256);
  }
  const tooLarge = await postJson(port, { presigned_url: link(MAX_BYTES + 1) });
  assert.equal(tooLarge.status, 400);
  assert.equal(tooLarge.json.error, 'validation_error');
  assert.equal(tooLarge.json.message, 'The file exceeds the limit of 4000000 bytes.');
  assert.equal(arena.usedBytes, 0);
});

test('user_id is optional text, and the link is needed', async (t) => {
  const { port, link } = await start(t);
  for (const [body, message] of [
    [{ presigned_url: link(9), user_id: 7 }, /^Expected a text for user_id but received/],
    [{ user_id: 'me' }, /^Expected a string for presigned_url but received none\.$/],
    [{ presigned_url: 'https://elsewhere.example.com/a' }, /for presigned_url but received one to https:/],
  ] as const) {
    const answer = await postJson(port, body);
    assert.equal(answer.status, 400);
    assert.match(answer.json.message, message);
  }
});

for (const path of ['/v0/predict', '/predict']) {
  test(`${path}: the answer to a link is that to a form`, async (t) => {
    const { port, link } = await start(t);
    const answer = await postJson(port, { presigned_url: link(1000), user_id: 'me' }, path);
    assert.equal(answer.status, 200);
    const { processing_time, ...rest } = answer.json;
    assert.deepEqual(rest, {
      predictions: ['fake', 'fake'],
      global_probability: [0.96, 0.94],
      error: [null, null],
      model: 'apollo-4-2025-10-20',
      audio_duration: 10,
    });
    assert.match(String(answer.headers.deprecation), /^@/);
  });
}
