// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { VeravoxClient, type VeravoxError } from '../../client/src/index.js';
import { type FakeAnswer, startFakeService } from '../support/fake-service.js';
import { noise } from '../support/form-body.js';

const bytes = noise(100_000);
const refused = (status: number, retryAfter?: string): FakeAnswer => ({
  status,
  headers: retryAfter === undefined ? {} : { 'retry-after': retryAfter },
  body: {
    error: status === 429 ? 'rate_limited' : 'unavailable',
    message: 'Later.',
    status,
    correlation_id: 'c',
  },
});
const fine: FakeAnswer = { status: 200, body: { prediction_id: 'p' } };

const clientOf = (baseUrl: string) => new VeravoxClient({ baseUrl, apiKey: 'k', backoffMs: 2 });

async function* generated(): AsyncGenerator<Uint8Array> {
  yield bytes;
}

for (const status of [429, 503]) {
  test(`${status} is tried again, with the same body`, async (t) => {
    const { baseUrl, received } = await startFakeService(t, [refused(status, '0'), refused(status), fine]);
    assert.equal((await clientOf(baseUrl).predict(bytes)).prediction_id, 'p');
    assert.equal(received.length, 3);
    for (const { body } of received) {
      assert.deepEqual(body, received[0]?.body);
      assert.ok(body.includes(bytes));
    }
  });
}

test('not before Retry-After has passed', async (t) => {
  const { baseUrl } = await startFakeService(t, [refused(503, '1'), fine]);
  const startedMs = performance.now();
  await clientOf(baseUrl).predict(bytes);
  const elapsedMs = performance.now() - startedMs;
  assert.ok(elapsedMs >= 990, `${elapsedMs} ms`);
});

test('Retry-After may be a date', async (t) => {
  const { baseUrl, received } = await startFakeService(t, [refused(503, new Date(0).toUTCString()), fine]);
  await clientOf(baseUrl).predict(bytes);
  assert.equal(received.length, 2);
});

test('the last refusal is thrown when all tries are used up', async (t) => {
  const { baseUrl, received } = await startFakeService(t, [refused(429, '0')]);
  await assert.rejects(clientOf(baseUrl).predict(bytes, { maxRetries: 2 }), {
    name: 'VeravoxError',
    code: 'rate_limited',
    status: 429,
    retryAfterS: 0,
  });
  assert.equal(received.length, 3);
});

test('other refusals are not tried again', async (t) => {
  for (const status of [400, 401, 408, 413, 500]) {
    const { baseUrl, received } = await startFakeService(t, [{ status, body: 'no' }]);
    await assert.rejects(clientOf(baseUrl).predict(bytes), { status });
    assert.equal(received.length, 1);
  }
});

test('a stream is sent once only; a function that makes streams is asked again', async (t) => {
  const once = await startFakeService(t, [refused(503, '0'), fine]);
  await assert.rejects(clientOf(once.baseUrl).predict(generated()), { code: 'unavailable' });
  assert.equal(once.received.length, 1);

  const again = await startFakeService(t, [refused(503, '0'), fine]);
  await clientOf(again.baseUrl).predict({ stream: generated, sizeBytes: bytes.length });
  assert.equal(again.received.length, 2);
  assert.ok(again.received[1]?.body.includes(bytes));
});

test('a pause that would outlast the time limit is not begun', async (t) => {
  const { baseUrl } = await startFakeService(t, [refused(503, '3600')]);
  await assert.rejects(clientOf(baseUrl).predict(bytes, { timeoutMs: 60_000 }), {
    code: 'unavailable',
    retryAfterS: 3600,
  } satisfies Partial<VeravoxError>);
});

test('an abort ends the pause before a retry', async (t) => {
  const { baseUrl, received } = await startFakeService(t, [refused(503, '300')]);
  const controller = new AbortController();
  const fetchThenAbort: typeof fetch = async (...request) => {
    const response = await fetch(...request);
    setImmediate(() => controller.abort(new Error('enough')));
    return response;
  };
  const client = new VeravoxClient({ baseUrl, apiKey: 'k', fetch: fetchThenAbort });
  await assert.rejects(client.predict(bytes, { signal: controller.signal }), /enough/);
  assert.equal(received.length, 1);
});

test('the time limit ends a request that is not answered', async (t) => {
  const { baseUrl } = await startFakeService(t, [fine]);
  async function* stalled(): AsyncGenerator<Uint8Array> {
    yield bytes;
    await new Promise(() => {});
  }
  await assert.rejects(clientOf(baseUrl).predict(stalled(), { timeoutMs: 50 }), { name: 'TimeoutError' });
});
