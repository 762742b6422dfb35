// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ServiceError } from '../../../src/base/errors/service-error.js';
import { type FormEntry, fileEntry, formBody, noise } from '../../support/form-body.js';
import { postForm, predictHead, RawClient, request } from '../../support/http-client.js';
import { startTestServer } from '../../support/test-server.js';

const paths = ['/v0/predict', '/predict'];
const MAX_BYTES = 4_000_000;
const file = noise(MAX_BYTES + 1);
const field = (name: string, content: string): FormEntry => ({ name, content });

for (const path of paths) {
  test(`${path}: a file below, at and above 4 MB; too large is 400 here, and names the limit`, async (t) => {
    const { port, arena } = await startTestServer(t);
    for (const headers of [{}, { 'transfer-encoding': 'chunked' }]) {
      for (const [bytes, status] of [
        [MAX_BYTES - 1, 200],
        [MAX_BYTES, 200],
        [MAX_BYTES + 1, 400],
      ] as const) {
        const body = formBody([fileEntry(file.subarray(0, bytes))]);
        const answer = await postForm(port, path, body, { headers });
        assert.equal(answer.status, status, `${bytes} bytes`);
        if (status === 200) continue;
        assert.equal(answer.json.error, 'validation_error');
        assert.equal(answer.json.message, 'The file exceeds the limit of 4000000 bytes.');
      }
    }
    assert.equal(arena.usedBytes, 0);
  });

  test(`${path}: a declared size over the limit is refused before any of the body is sent`, async (t) => {
    const { port } = await startTestServer(t);
    const client = await RawClient.connect(port);
    await client.write(predictHead({ 'content-length': 8 << 20 }, path));
    assert.match(await client.until(/\}\r\n$/), /^HTTP\/1\.1 400 .*4000000 bytes/s);
    client.socket.destroy();
  });

  test(`${path}: a refused key is 403, and every answer says that v0 is deprecated`, async (t) => {
    const { port } = await startTestServer(t);
    const body = formBody([fileEntry('x')]);
    const answers = [
      await postForm(port, path, body),
      await postForm(port, path, formBody([])),
      await postForm(port, path, body, { headers: { 'x-api-key': 'wrong' } }),
      await postForm(port, path, body, { headers: { 'x-api-key': '' } }),
    ];
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 400, 403, 403],
    );
    for (const { headers } of answers) {
      assert.match(String(headers.deprecation), /^@\d+$/);
      assert.match(String(headers.sunset), /GMT$/);
      assert.equal(headers.link, '</v1/predict>; rel="successor-version"');
    }
    for (const { json } of answers.slice(2)) assert.equal(json.error, 'unauthorized');
    const get = await request(port, path);
    assert.equal(get.status, 405);
    assert.equal(get.headers.allow, 'POST, OPTIONS');
  });

  test(`${path}: at least 3 s are asked for; less is 400 with the measured and the required duration`, async (t) => {
    const { port, analyser } = await startTestServer(t);
    const body = formBody([fileEntry('x'), field('user_id', 'somebody')]);
    await postForm(port, path, body);
    const [analysed] = analyser.requests;
    assert.equal(analysed?.minDurationS, 3);
    assert.equal(analysed?.maxDurationS, 600);
    assert.equal(analysed?.model, 'apollo-4-2025-10-20');
    assert.equal(analysed?.silenceThresholdPercent, 80);
    analyser.answer = ({ minDurationS }) => {
      throw new ServiceError('AUDIO_TOO_SHORT', { measuredS: 2.999, requiredS: minDurationS });
    };
    const answer = await postForm(port, path, body);
    assert.equal(answer.status, 400);
    assert.equal(answer.json.error, 'validation_error');
    assert.match(answer.json.message, /2\.999 s long; at least 3 s/);
  });
}

test('user_id is any text, given at most once; fields of v1 are ignored', async (t) => {
  const { port, analyser } = await startTestServer(t);
  const post = (...fields: FormEntry[]) =>
    postForm(port, '/v0/predict', formBody([...fields, fileEntry('x')]));
  const twice = await post(field('user_id', 'a'), field('user_id', 'a'));
  assert.match(twice.json.message, /user_id was given more than once/);
  const answer = await post(
    field('user_id', 'ü'.repeat(2000)),
    field('threshold', 'high'),
    field('silence_threshold', '5'),
    field('model', 'apollo-4-5-2026-03-26'),
  );
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.json.model, 'apollo-4-2025-10-20');
  assert.equal(analyser.requests.at(-1)?.silenceThresholdPercent, 80);
});

test('a form without a file, with two, and other content-types are 400', async (t) => {
  const { port } = await startTestServer(t);
  for (const [entries, message] of [
    [[field('user_id', 'a')], /no file in the field file/],
    [[fileEntry('x'), fileEntry('x')], /field file was given more than once/],
    [[fileEntry('')], /file in the field file is empty/],
  ] as const) {
    const answer = await postForm(port, '/v0/predict', formBody(entries));
    assert.equal(answer.status, 400);
    assert.match(answer.json.message, message);
  }
  const body = formBody([fileEntry('x')]);
  const text = await postForm(port, '/v0/predict', body, { headers: { 'content-type': 'text/plain' } });
  assert.equal(text.status, 400);
});
