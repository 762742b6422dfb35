// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { RateLimits } from '../../../src/api/admission/rate-limits.js';
import { ServiceError } from '../../../src/base/errors/service-error.js';
import { eventually } from '../../support/eventually.js';
import { fileEntry, formBody, noise } from '../../support/form-body.js';
import { type Answer, predict, predictHead, RawClient, request } from '../../support/http-client.js';
import { keysOf, withKey } from '../../support/keys.js';
import { startTestServer } from '../../support/test-server.js';

const body = formBody([fileEntry('x')]);
const limited = { rateLimitRequests: 2, rateLimitWindowS: 60 };

/** Stops the clock of the rate limits' windows. */
function stopClock(context: TestContext): { pass(ms: number): void } {
  context.mock.timers.enable({ apis: ['Date'], now: 1_800_000_000_000 });
  return { pass: (ms) => context.mock.timers.setTime(Date.now() + ms) };
}

const limitHeaders = ({ headers }: Answer) => ({
  limit: headers['ratelimit-limit'],
  remaining: headers['ratelimit-remaining'],
  reset: headers['ratelimit-reset'],
});

test('one request too many is 429 with the time to wait, before any of its body is sent', async (t) => {
  const clock = stopClock(t);
  const { port, analyser, metric } = await startTestServer(t, limited);
  await predict(port, body);
  await predict(port, body);
  clock.pass(20_500);
  const client = await RawClient.connect(port);
  await client.write(predictHead({ 'content-length': 1_000_000 }));
  const answer = await client.until(/\}\r\n$/);
  client.socket.destroy();
  assert.match(answer, /^HTTP\/1\.1 429 Too Many Requests\r\n/);
  assert.match(answer, /\r\nretry-after: 40\r\n/);
  assert.match(answer, /\r\nratelimit-limit: 2\r\nratelimit-remaining: 0\r\nratelimit-reset: 40\r\n/);
  const { error, message } = JSON.parse(answer.split('\r\n\r\n')[1] ?? '');
  assert.equal(error, 'rate_limited');
  assert.equal(message, 'The API key has used all of its 2 requests per 60 s; retry after 40 s.');
  assert.equal(analyser.requests.length, 2);
  assert.equal(await metric('veravox_errors_total{key="RATE_LIMITED"}'), 1);
  assert.equal(await metric('veravox_http_requests_total{route="/v1/predict",status="429"}'), 1);
  assert.equal(await metric('veravox_requests_in_flight'), 0);
});

test('a client that waits for Retry-After is accepted, one that comes a second earlier is not', async (t) => {
  const clock = stopClock(t);
  const { port } = await startTestServer(t, { rateLimitRequests: 1, rateLimitWindowS: 7 });
  const elapsedMs = [0, 1, 999, 1000, 1001, 6999];
  for (const ms of elapsedMs) {
    assert.equal((await predict(port, body)).status, 200);
    clock.pass(ms);
    const refused = await predict(port, body);
    assert.equal(refused.status, 429);
    const waitMs = Number(refused.headers['retry-after']) * 1000;
    assert.ok(waitMs >= 1000 && waitMs <= 7000, `${waitMs}`);
    clock.pass(waitMs - 1000);
    assert.equal((await predict(port, body)).status, 429, `${ms} ms after the first`);
    clock.pass(1000);
    assert.equal((await predict(port, body)).status, 200, `${ms} ms after the first`);
    clock.pass(7000);
  }
});

test('refused requests do not put off the end of the window', async (t) => {
  const clock = stopClock(t);
  const { port } = await startTestServer(t, { rateLimitRequests: 1, rateLimitWindowS: 10 });
  await predict(port, body);
  for (let second = 1; second < 10; second++) {
    clock.pass(1000);
    const refused = await predict(port, body);
    assert.equal(refused.headers['retry-after'], String(10 - second));
  }
  clock.pass(1000);
  assert.equal((await predict(port, body)).status, 200);
});

test('every answer of a limited key says where it stands, good or bad', async (t) => {
  stopClock(t);
  const keys = keysOf({ id: 'a' }, { id: 'without-scope', scopes: new Set(['file']) });
  const { port, analyser } = await startTestServer(
    t,
    { rateLimitRequests: 7, rateLimitWindowS: 30, maxPredictBytes: 5000 },
    { keys },
  );
  const headers = withKey('a');
  const fail = (error: Error) => () => Promise.reject(error);
  const { answer } = analyser;
  const cases: [status: number, ask: () => Promise<Answer>][] = [
    [200, () => predict(port, body, { headers })],
    [400, () => predict(port, formBody([]), { headers })],
    [400, () => predict(port, body, { headers: { ...headers, 'content-type': 'text/plain' } })],
    [413, () => predict(port, formBody([fileEntry(noise(1_000_000))]), { headers })],
    [
      500,
      () => {
        analyser.answer = fail(new Error('broken'));
        return predict(port, body, { headers });
      },
    ],
    [
      503,
      () => {
        analyser.answer = fail(new ServiceError('QUEUE_DEADLINE', { timeoutMs: 1 }));
        return predict(port, body, { headers });
      },
    ],
    [
      200,
      () => {
        analyser.answer = answer;
        return predict(port, body, { headers });
      },
    ],
    [429, () => predict(port, body, { headers })],
  ];
  for (const [index, [status, ask]] of cases.entries()) {
    const got = await ask();
    assert.equal(got.status, status);
    assert.deepEqual(limitHeaders(got), {
      limit: '7',
      remaining: String(Math.max(0, 6 - index)),
      reset: '30',
    });
  }
  const forbidden = await predict(port, body, { headers: withKey('without-scope') });
  assert.equal(forbidden.status, 403);
  assert.deepEqual(limitHeaders(forbidden), { limit: '7', remaining: '6', reset: '30' });
});

test('an answer that comes after its window has ended says so', async (t) => {
  const clock = stopClock(t);
  const { port, analyser } = await startTestServer(t, limited);
  const { answer } = analyser;
  analyser.answer = (analysis) => {
    clock.pass(60_001);
    return answer(analysis);
  };
  assert.deepEqual(limitHeaders(await predict(port, body)), { limit: '2', remaining: '2', reset: '0' });
});

test('answers that concern no limited key say nothing of limits', async (t) => {
  const keys = keysOf({ id: 'free', rate: { requests: 0, windowS: 1 } });
  const { port } = await startTestServer(t, limited, { keys });
  const nothing = { limit: undefined, remaining: undefined, reset: undefined };
  for (let round = 0; round < 5; round++) {
    const answer = await predict(port, body, { headers: withKey('free') });
    assert.equal(answer.status, 200);
    assert.deepEqual(limitHeaders(answer), nothing);
  }
  const unknownKey = await predict(port, body, { headers: withKey('unknown') });
  assert.equal(unknownKey.status, 401);
  assert.deepEqual(limitHeaders(unknownKey), nothing);
  const nowhere = await request(port, '/v1/nowhere', { headers: withKey('free') });
  assert.equal(nowhere.status, 404);
  assert.deepEqual(limitHeaders(nowhere), nothing);
});

test('without a setting there is no limit', async (t) => {
  const { port } = await startTestServer(t);
  for (let round = 0; round < 20; round++) {
    const answer = await predict(port, body);
    assert.equal(answer.status, 200);
    assert.equal(answer.headers['ratelimit-limit'], undefined);
  }
});

test('each key has a count of its own, also within one account, and its own limit wins', async (t) => {
  stopClock(t);
  const keys = keysOf({ id: 'a' }, { id: 'b' }, { id: 'c', rate: { requests: 3, windowS: 5 } });
  const { port } = await startTestServer(t, { rateLimitRequests: 1 }, { keys });
  const statuses = async (id: string, requests: number): Promise<number[]> => {
    const got: number[] = [];
    for (let i = 0; i < requests; i++) got.push((await predict(port, body, { headers: withKey(id) })).status);
    return got;
  };
  assert.deepEqual(await statuses('a', 2), [200, 429]);
  assert.deepEqual(await statuses('b', 2), [200, 429]);
  assert.deepEqual(await statuses('c', 4), [200, 200, 200, 429]);
  assert.equal((await predict(port, body, { headers: withKey('c') })).headers['retry-after'], '5');
});

test('a body that comes in one packet with its head arrives whole, and so does one in many', async (t) => {
  const { port, analyser } = await startTestServer(t, { rateLimitRequests: 1000 });
  const file = noise(200_000);
  const form = formBody([fileEntry(file)]);
  const message = Buffer.concat([Buffer.from(predictHead({ 'content-length': form.length })), form]);
  const client = await RawClient.connect(port);
  for (const firstBytes of [message.length, message.length - form.length, message.length - form.length + 1]) {
    client.received = '';
    await client.write(message.subarray(0, firstBytes));
    for (let at = firstBytes; at < message.length; at += 10_000) {
      await client.write(message.subarray(at, at + 10_000));
    }
    await client.until(/^HTTP\/1\.1 200 [\s\S]*\}$/);
  }
  client.socket.destroy();
  const small = await RawClient.connect(port);
  await small.write(Buffer.concat([Buffer.from(predictHead({ 'content-length': body.length })), body]));
  await small.until(/^HTTP\/1\.1 200 [\s\S]*\}$/);
  small.socket.destroy();
  const sha256 = (bytes: Uint8Array | string): string => createHash('sha256').update(bytes).digest('hex');
  assert.deepEqual(analyser.hashes, [sha256(file), sha256(file), sha256(file), sha256('x')]);
});

test('a client that leaves at once takes nothing with it', async (t) => {
  const { port, metric, arena } = await startTestServer(t, { rateLimitRequests: 1000 });
  for (let round = 0; round < 20; round++) {
    const client = await RawClient.connect(port);
    await client.write(predictHead({ 'content-length': 1000 }));
    client.socket.destroy();
    await client.closed;
  }
  const gone = 'veravox_http_requests_total{route="/v1/predict",status="499"}';
  await eventually(async () => (await metric(gone)) === 20, 'all have been noticed');
  assert.equal(await metric('veravox_requests_in_flight'), 0);
  assert.equal(arena.usedBytes, 0);
});

test('a limit that changes holds from the next request on', async (t) => {
  const clock = stopClock(t);
  const limits = new RateLimits({ requests: 1, windowS: 10 });
  const key = { id: 'a', account: 'one', scopes: new Set<never>() };
  const isExceeded = async (rate?: { requests: number; windowS: number }) =>
    (await limits.count({ ...key, ...(rate && { rate }) }))?.isExceeded;
  assert.equal(await isExceeded(), false);
  assert.equal(await isExceeded(), true);
  assert.equal(await isExceeded({ requests: 2, windowS: 10 }), false);
  assert.equal(limits.count({ ...key, rate: { requests: 0, windowS: 1 } }), undefined);
  clock.pass(10_000);
  assert.equal(await isExceeded(), false);
});
