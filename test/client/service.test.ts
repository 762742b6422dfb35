// SPDX-License-Identifier: Apache-2.0
//
// The methods other than `predict`, against the server itself.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { VeravoxClient } from '../../client/src/index.js';
import { someAnalysis } from '../support/analyser-double.js';
import { noise } from '../support/form-body.js';
import { request } from '../support/http-client.js';
import { documentOf, validatorOf } from '../support/openapi.js';
import { API_KEY, startTestServer } from '../support/test-server.js';

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

async function started(...[test, ...options]: Parameters<typeof startTestServer>) {
  const server = await startTestServer(test, ...options);
  const validate = validatorOf(await documentOf(server.origin));
  const client = new VeravoxClient({ baseUrl: server.origin, apiKey: API_KEY, backoffMs: 1 });
  const assertIs = (name: string, answer: unknown): void =>
    validate({ $ref: `#/components/schemas/${name}` }, answer, name);
  return { ...server, client, assertIs };
}

test('predictLargeFile sends a stream whole and reports its progress', async (t) => {
  const { client, analyser, assertIs } = await started(t);
  const file = noise(5_100_000);
  let lastBytes = 0;
  const prediction = await client.predictLargeFile(
    { stream: () => new Blob([file]).stream(), sizeBytes: file.length },
    {
      filename: 'day.flac',
      onUploadProgress({ sentBytes, totalBytes }) {
        assert.ok(sentBytes > lastBytes && totalBytes === file.length);
        lastBytes = sentBytes;
      },
    },
  );
  assertIs('LargeFilePrediction', prediction);
  assert.deepEqual(analyser.hashes, [sha256(file)]);
  assert.equal(lastBytes, file.length);
});

test('what enroll answers is what verify takes', async (t) => {
  const { client, analyser, assertIs } = await started(t);
  const human = { ...someAnalysis, windows: [{ startS: 0, endS: 5, scores: [0.01] }] };
  analyser.answer = () => human;
  const enrollment = await client.enroll(noise(1000), { user_id: 'anna' });
  assertIs('Enrollment', enrollment);
  for (const embedding of [enrollment.embedding, Float32Array.from(enrollment.embedding)]) {
    let cosine = Number.NaN;
    const onHeaders = (headers: Headers): void => {
      cosine = Number(headers.get('x-voice-cosine'));
    };
    const verification = await client.verify(noise(1000), embedding, { user_id: 'anna', onHeaders });
    assertIs('Verification', verification);
    assert.equal(cosine, 1);
    assert.equal(verification.is_match, true);
  }
});

test('a voice that the server finds to be AI-generated is refused', async (t) => {
  const { client } = await started(t);
  await assert.rejects(client.enroll(noise(1000)), { code: 'forbidden_error', status: 403 });
});

test('a file goes to storage and comes back through links', async (t) => {
  const { client, assertIs } = await started(t);
  const file = noise(3_000_000);
  const uploads = await client.createUploadLinks(['a b/ä.wav']);
  assertIs('LinkList', uploads);
  for (const link of uploads.url) {
    assert.equal(link.key, 'analysis/a b/ä.wav');
    await client.upload(link, { stream: new Blob([file]).stream(), sizeBytes: file.length });
  }
  const downloads = await client.getDownloadLinks('a b/');
  assertIs('LinkList', downloads);
  assert.equal(downloads.url.length, 1);
  for (const link of downloads.url) {
    const response = await client.download(link);
    assert.equal(sha256(new Uint8Array(await response.arrayBuffer())), sha256(file));
  }
});

test('a stored file is analysed where it lies', async (t) => {
  const { client, analyser, assertIs } = await started(t);
  const file = noise(50_000);
  for (const link of (await client.createUploadLinks(['call.wav'])).url) await client.upload(link, file);
  for (const link of (await client.getDownloadLinks('call.wav')).url) {
    assertIs('Prediction', await client.predict({ presignedUrl: link.value }));
  }
  assert.deepEqual(analyser.hashes, [sha256(file)]);
});

test('files that are deleted are gone, and deleting them again is no error', async (t) => {
  const { client, assertIs } = await started(t);
  for (const link of (await client.createUploadLinks(['a b/ä.wav', 'kept'])).url) {
    await client.upload(link, noise(10));
  }
  for (let times = 0; times < 2; times++) {
    const deleted = await client.deleteFiles(['a b/ä.wav']);
    assert.deepEqual(deleted, ['analysis/a b/ä.wav']);
    assertIs('DeletedFiles', { deleted });
  }
  const { url } = await client.getDownloadLinks('');
  assert.deepEqual(
    url.map(({ key }) => key),
    ['analysis/kept'],
  );
});

test('any number of files can be deleted, whatever the length of their keys', async (t) => {
  const { client, port } = await started(t);
  const long = Array.from({ length: 5 }, (_, i) => `${i}${'語'.repeat(170)}`);
  const usual = Array.from({ length: 120 }, (_, i) => `${String(i).padStart(6, '0')}/${'k'.repeat(93)}`);
  const short = Array.from({ length: 120 }, (_, i) => `${i}`);
  const keys = [...long, ...usual, ...short];
  const [first = '', last = ''] = [keys[0], keys.at(-1)];
  for (const link of (await client.createUploadLinks([first, last])).url)
    await client.upload(link, noise(10));
  assert.deepEqual(
    await client.deleteFiles([...keys, first]),
    keys.map((key) => `analysis/${key}`),
  );
  assert.deepEqual(await client.getDownloadLinks(''), { url: [] });
  await assert.rejects(client.deleteFiles([]), { code: 'validation_error' });

  // As docs/api.md says.
  const remove = (query: string) =>
    request(port, `/v1/file?entity=analysis${query}`, {
      method: 'DELETE',
      headers: { 'x-api-key': API_KEY },
    });
  assert.equal((await remove(`&key=${'k'.repeat(40)}`.repeat(80))).status, 200);
  assert.equal((await remove(`&key=${'k'.repeat(40)}`.repeat(100))).status, 431);
});

test('a link that was altered is an error of the storage', async (t) => {
  const { client } = await started(t);
  for (const { key, value } of (await client.createUploadLinks(['call.wav'])).url) {
    const altered = { key, value: value.replace('call.wav', 'cell.wav') };
    await assert.rejects(client.upload(altered, noise(10)), { code: 'storage_error', status: 403 });
  }
});

test('a key over its rate waits as long as the server asks for', async (t) => {
  const { client, log } = await started(t, { rateLimitRequests: 1, rateLimitWindowS: 2 });
  await Promise.all([client.predict(noise(10)), client.predict(noise(10))]);
  const statuses = log.filter(({ route }) => route === '/v1/predict').map(({ status }) => status);
  assert.deepEqual(statuses.sort(), [200, 200, 429]);
});
