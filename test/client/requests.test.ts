// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { VeravoxClient } from '../../client/src/index.js';
import { startFakeService } from '../support/fake-service.js';
import { noise } from '../support/form-body.js';

const bytes = noise(1000);
const key = { 'x-api-key': 'k' };

async function fake(test: Parameters<typeof startFakeService>[0], body: unknown = {}) {
  const { baseUrl, received } = await startFakeService(test, [{ status: 200, body }]);
  return { client: new VeravoxClient({ baseUrl, apiKey: 'k' }), baseUrl, received };
}

/** Name, file name and content of each part, read by an independent parser. */
async function partsOf({ headers, body }: { headers: http.IncomingHttpHeaders; body: Buffer }) {
  const type = String(headers['content-type']);
  const form = await new Response(body, { headers: { 'content-type': type } }).formData();
  return Promise.all(
    [...form].map(async ([name, value]) =>
      typeof value === 'string'
        ? [name, value]
        : [name, value.name, Buffer.from(await value.arrayBuffer()).equals(bytes)],
    ),
  );
}

test('the address may end with the version, and with slashes', async (t) => {
  const { baseUrl, received } = await fake(t);
  for (const end of ['', '/', '/v1', '/v1/', '//v1//', '/v1/v1']) {
    await new VeravoxClient({ baseUrl: `${baseUrl}${end}`, apiKey: 'k' }).predict(bytes);
    assert.equal(received.at(-1)?.url, '/v1/predict', end);
  }
  const behindProxy = new VeravoxClient({ baseUrl: `${baseUrl}/voice/v1/`, apiKey: 'k' });
  await behindProxy.predict(bytes);
  assert.equal(received.at(-1)?.url, '/voice/v1/predict');
  assert.throws(() => new VeravoxClient({ baseUrl: `${baseUrl}/v0/`, apiKey: 'k' }), {
    name: 'TypeError',
    message: /without a version but received .*\/v0\/; this client speaks v1/,
  });
});

test('each method asks for its route', async (t) => {
  const { client, received } = await fake(t);
  await client.predict(bytes, { threshold: 0.25 });
  await client.predictLargeFile(bytes, { filename: 'day.wav' });
  await client.enroll(new File([bytes], 'anna.wav'), { user_id: 'anna' });
  await client.verify(bytes, new Float32Array([0.5, -0.25]));
  const [predict, large, enroll, verify] = await Promise.all(received.map(partsOf));
  assert.deepEqual(
    received.map(({ method, url }) => `${method} ${url}`),
    ['POST /v1/predict', 'POST /v1/predict/large-file', 'POST /v1/voiceid/enroll', 'POST /v1/voiceid/verify'],
  );
  assert.deepEqual(predict, [
    ['threshold', '0.25'],
    ['file', 'audio', true],
  ]);
  assert.deepEqual(large, [
    ['filename', 'day.wav'],
    ['file', 'day.wav', true],
  ]);
  assert.deepEqual(enroll, [
    ['user_id', 'anna'],
    ['audio_file', 'anna.wav', true],
  ]);
  assert.deepEqual(verify, [
    ['voice_vector', '[0.5,-0.25]'],
    ['audio_file', 'audio', true],
  ]);
  for (const { headers } of received) assert.equal(headers['x-api-key'], key['x-api-key']);
});

test('a file name cannot break out of its header', async (t) => {
  const { client, received } = await fake(t);
  await client.predict(bytes, { filename: 'a"\r\nx: y"; name="b' });
  assert.match(String(received[0]?.body), /filename="a%22%0D%0Ax: y%22; name=%22b"\r\n/);
});

test('a page from plain HTTP, whose browser has no crypto.randomUUID, sends files and makes jobs', async (t) => {
  const { client, received } = await fake(t);
  t.mock.method(crypto, 'randomUUID', () => assert.fail('crypto.randomUUID is not a function'));
  await client.predict(bytes);
  await client.createJob({ key: 'a' });
  const [predict, ...jobs] = received;
  assert.ok(predict);
  assert.deepEqual(await partsOf(predict), [['file', 'audio', true]]);
  assert.match(JSON.parse(String(jobs[0]?.body)).idempotency_key, /^[0-9a-f]{32}$/);
});

test('a presigned link goes as JSON', async (t) => {
  const { client, received } = await fake(t);
  await client.predict({ presignedUrl: 'https://storage.example/a?b=c' }, { prediction_id: 'p' });
  assert.equal(received[0]?.headers['content-type'], 'application/json');
  assert.deepEqual(JSON.parse(String(received[0]?.body)), {
    prediction_id: 'p',
    presigned_url: 'https://storage.example/a?b=c',
  });
});

test('links are asked for, used to upload and to download', async (t) => {
  const { client, baseUrl, received } = await fake(t, { url: [] });
  await client.createUploadLinks(['a b.wav', 'c.wav']);
  await client.getDownloadLinks('a b', { entity: 'results' });
  const link = { key: 'analysis/c.wav', value: `${baseUrl}/bucket/c.wav?X-Amz-Signature=1` };
  await client.upload(link, { stream: new Blob([bytes]).stream(), sizeBytes: bytes.length });
  const response = await client.download(link);
  assert.equal(await response.text(), '{"url":[]}');

  const [post, get, put, download] = received;
  assert.deepEqual(JSON.parse(String(post?.body)), { keys: ['a b.wav', 'c.wav'], entity: 'analysis' });
  assert.equal(get?.url, '/v1/file?key_prefix=a+b&entity=results');
  assert.deepEqual(
    [put?.method, put?.headers['content-length'], put?.body.equals(bytes)],
    ['PUT', '1000', true],
  );
  assert.equal(download?.method, 'GET');
  // The key is for the service; a link carries its own permission.
  assert.equal(put?.headers['x-api-key'], undefined);
  assert.equal(download?.headers['x-api-key'], undefined);
});

test('the length is in the head where it is known', async (t) => {
  const { client, received } = await fake(t);
  await client.predict(bytes);
  await client.predict({ stream: new Blob([bytes]).stream(), sizeBytes: bytes.length });
  await client.predict(new Blob([bytes]).stream());
  const [ofBytes, ofKnown, ofUnknown] = received.map(({ headers, body }) => ({
    isRight: Number(headers['content-length']) === body.length,
    encoding: headers['transfer-encoding'],
  }));
  assert.deepEqual([ofBytes?.isRight, ofKnown?.isRight], [true, true]);
  assert.deepEqual(ofUnknown, { isRight: false, encoding: 'chunked' });
});

test('a stream of another length than it claims is refused', async (t) => {
  const { client, baseUrl } = await fake(t);
  for (const [sizeBytes, received] of [
    [999, 'more'],
    [1001, '1000'],
  ]) {
    const promise = client.predict({ stream: new Blob([bytes]).stream(), sizeBytes: Number(sizeBytes) });
    await assert.rejects(promise, ({ cause }: Error) => {
      assert.equal(
        (cause as Error).message,
        `Expected ${sizeBytes} bytes from the stream but received ${received}.`,
      );
      return true;
    });
  }
  await assert.rejects(client.upload({ key: 'a', value: baseUrl }, new Blob([bytes]).stream()), /sizeBytes/);
});

test('a long upload is never held in memory: it is read as fast as the network takes it', async (t) => {
  const totalBytes = 128 << 20;
  const mostAheadBytes = 32 << 20;
  let receivedBytes = 0;
  const server = http.createServer((request, response) => {
    request.on('data', (chunk: Buffer) => {
      receivedBytes += chunk.length;
    });
    request.on('end', () => response.end('{}'));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const chunk = noise(1 << 20);
  let aheadBytes = 0;
  async function* stream(): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < totalBytes; at += chunk.length) {
      aheadBytes = Math.max(aheadBytes, at - receivedBytes);
      yield chunk;
    }
  }
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await new VeravoxClient({ baseUrl, apiKey: 'k' }).predictLargeFile(stream());
  assert.ok(receivedBytes > totalBytes);
  assert.ok(aheadBytes < mostAheadBytes, `${aheadBytes} bytes`);
});
