// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { ignoredFields } from '../src/api/routes/ignored-fields.js';
import type { ServiceError } from '../src/base/errors/service-error.js';
import { request } from './support/http-client.js';
import { API_KEY, startTestServer } from './support/test-server.js';

const known = ['threshold', 'model', 'file'];
const lenient = { query: '', isStrict: false };

test('in strict mode the first field or parameter without effect is refused by name', () => {
  for (const [query, names, message] of [
    ['', ['file', 'treshold', 'other'], /field treshold has no effect here\. Did you mean threshold\?/],
    ['threshold=0.9', ['file'], /query parameter threshold has no effect here\. Send threshold in the body/],
  ] as const) {
    assert.throws(
      () => ignoredFields({ query, isStrict: true }, names, known),
      (error: ServiceError) => error.key === 'FIELD_UNKNOWN' && message.test(error.message),
    );
  }
  assert.deepEqual(ignoredFields({ query: '', isStrict: true }, known, known), []);
});

test('each is named once, and no more than ten', () => {
  const twice = ignoredFields(lenient, ['MODLE', 'MODLE', 'quite_another', 'model'], known);
  assert.deepEqual(twice, [
    'The field MODLE has no effect here. Did you mean model?',
    'The field quite_another has no effect here.',
  ]);
  const many = Array.from({ length: 60 }, (_, i) => `unknown-${i}`);
  assert.equal(ignoredFields(lenient, many, known).length, 10);
});

const part = (name: string, content: string | Buffer, parameters = ''): Buffer =>
  Buffer.concat([
    Buffer.from(`--x\r\ncontent-disposition: form-data; name="${name}"${parameters}\r\n\r\n`),
    Buffer.from(content),
    Buffer.from('\r\n'),
  ]);

test('a request says in the words of its sender what is wrong with it', async (t) => {
  const server = await startTestServer(t);
  const send = (parts: Buffer[], headers: Record<string, string> = {}, change = (body: Buffer) => body) =>
    request(server.port, '/v1/predict', {
      method: 'POST',
      headers: { 'x-api-key': API_KEY, 'content-type': 'multipart/form-data; boundary=x', ...headers },
      body: change(Buffer.concat([...parts, Buffer.from('--x--\r\n')])),
    });
  const file = part('file', 'no audio', '; filename="a.wav"');

  const packed = await send([file], { 'content-encoding': 'gzip' }, gzipSync);
  assert.equal(packed.status, 415);
  assert.match(packed.json.message, /content-encoding but received gzip/);

  const strict = await send([file, part('treshold', '0.9')], { prefer: 'respond-async, handling=strict' });
  assert.deepEqual([strict.status, strict.headers['x-error-key']], [400, 'FIELD_UNKNOWN']);
  assert.match(strict.json.message, /Did you mean threshold/);

  const repeated = await send([file, ...Array.from({ length: 256 }, () => part('voice_vector', '0.1'))]);
  assert.equal(repeated.status, 400);
  assert.match(repeated.json.message, /63 of them with the name "voice_vector"/);

  const path = await send([part('file', 'a.wav')]);
  assert.match(path.json.message, /text without a file name/);

  const binary = await send([part('file', Buffer.from('RIFF\0\0\0\0WAVEfmt '))]);
  assert.notEqual(binary.headers['x-error-key'], 'FILE_MISSING', 'bytes that are no text are the file');
});
