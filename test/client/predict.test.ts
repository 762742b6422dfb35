// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { type FileInput, VeravoxClient } from '../../client/src/index.js';
import { temporaryFolder } from '../support/cli.js';
import { noise } from '../support/form-body.js';
import { documentOf, validatorOf } from '../support/openapi.js';
import { API_KEY, startTestServer } from '../support/test-server.js';

const bytes = noise(300_000);
const sha256 = createHash('sha256').update(bytes).digest('hex');

async function* generated(): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 7001) yield bytes.subarray(at, at + 7001);
}

const inputs: Readonly<Record<string, () => FileInput>> = {
  'a Buffer': () => bytes,
  'an ArrayBuffer': () => new Uint8Array(bytes).buffer,
  'a Blob': () => new Blob([bytes]),
  'a Node stream': () => Readable.from(generated()),
  'a web stream': () => new Blob([bytes]).stream(),
  'a generator': generated,
  'a stream of known size': () => ({ stream: Readable.from(generated()), sizeBytes: bytes.length }),
  'a function that makes streams': () => ({ stream: generated }),
};

for (const [name, input] of Object.entries(inputs)) {
  test(`${name} arrives unchanged, and its prediction fits the schema`, async (t) => {
    const { origin, analyser } = await startTestServer(t);
    const client = new VeravoxClient({ baseUrl: origin, apiKey: API_KEY });
    const prediction = await client.predict(input(), { prediction_id: 'call-4711', threshold: 0.25 });
    assert.deepEqual(analyser.hashes, [sha256]);
    assert.equal(prediction.prediction_id, 'call-4711');
    const document = await documentOf(origin);
    validatorOf(document)({ $ref: '#/components/schemas/Prediction' }, prediction, name);
  });
}

test('a file on disk is streamed as a Blob', async (t) => {
  const file = path.join(temporaryFolder(t), 'recording.wav');
  fs.writeFileSync(file, bytes);
  const { origin, analyser } = await startTestServer(t);
  const client = new VeravoxClient({ baseUrl: `${origin}/`, apiKey: API_KEY });
  await client.predict(await fs.openAsBlob(file));
  assert.deepEqual(analyser.hashes, [sha256]);
});

test('fields that are undefined are not sent, the others decide', async (t) => {
  const { origin, analyser } = await startTestServer(t);
  const client = new VeravoxClient({ baseUrl: origin, apiKey: API_KEY });
  const model = 'apollo-4-2026-01-16';
  const prediction = await client.predict(bytes, {
    model,
    silence_threshold: 30,
    device: undefined,
  } as object);
  assert.equal(prediction.model, model);
  assert.equal(analyser.requests[0]?.silenceThresholdPercent, 30);
});

test('progress counts the bytes of the file up to all of them', async (t) => {
  const { origin } = await startTestServer(t);
  const client = new VeravoxClient({ baseUrl: origin, apiKey: API_KEY });
  const sent: number[] = [];
  await client.predict(bytes, {
    onUploadProgress({ sentBytes, totalBytes }) {
      assert.equal(totalBytes, bytes.length);
      sent.push(sentBytes);
    },
  });
  assert.deepEqual(sent, [65_536, 131_072, 196_608, 262_144, 300_000]);
});

test('an abort ends the request, and the server hears of it', async (t) => {
  const { origin, analyser } = await startTestServer(t);
  const client = new VeravoxClient({ baseUrl: origin, apiKey: API_KEY });
  const controller = new AbortController();
  const aborted = new Promise<void>((resolve) => {
    analyser.answer = ({ signal }) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => {
          resolve();
          reject(signal.reason);
        });
        controller.abort(new Error('not needed any more'));
      });
  });
  await assert.rejects(client.predict(bytes, { signal: controller.signal }), /not needed any more/);
  await aborted;
});
