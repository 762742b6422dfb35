// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AdminClient, VeravoxClient, VeravoxError } from '../../client/src/index.js';
import { startFakeService } from '../support/fake-service.js';
import { noise } from '../support/form-body.js';
import { API_KEY, KEY_WITHOUT_SCOPE, startTestServer } from '../support/test-server.js';

async function refusal(promise: Promise<unknown>): Promise<VeravoxError> {
  const error = await promise.then(
    () => assert.fail('It was not refused.'),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof VeravoxError, String(error));
  return error;
}

test('a refusal is an error with its code, status, sentence and correlation id', async (t) => {
  const { origin, log } = await startTestServer(t);
  const refused = (apiKey: string, threshold: number) =>
    refusal(new VeravoxClient({ baseUrl: origin, apiKey }).predict(noise(100), { threshold }));

  const unauthorized = await refused('another-key', 0.5);
  assert.deepEqual([unauthorized.code, unauthorized.status], ['unauthorized', 401]);
  const forbidden = await refused(KEY_WITHOUT_SCOPE, 0.5);
  assert.deepEqual([forbidden.code, forbidden.status], ['forbidden', 403]);
  const invalid = await refused(API_KEY, 2);
  assert.deepEqual([invalid.code, invalid.status], ['validation_error', 400]);
  assert.equal(
    invalid.message,
    'Expected a number from 0 to 1 or the name of an operating point for threshold but received "2".',
  );
  assert.equal(invalid.retryAfterS, undefined);
  assert.ok(log.some(({ correlationId }) => correlationId === invalid.correlationId));
});

test('a stream that is refused before its end gets to know why', async (t) => {
  const { origin } = await startTestServer(t, { maxPredictBytes: 1 << 20 });
  const client = new VeravoxClient({ baseUrl: origin, apiKey: API_KEY });
  let yieldedBytes = 0;
  let isClosed = false;
  async function* endless(): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        yieldedBytes += 65_536;
        yield noise(65_536);
      }
    } finally {
      isClosed = true;
    }
  }
  const error = await refusal(client.predict(endless()));
  assert.deepEqual([error.code, error.status], ['payload_too_large', 413]);
  assert.ok(yieldedBytes > 1 << 20);
  assert.ok(isClosed);
});

test('the rejection of an AI-generated voice, which has a body of its own', async (t) => {
  const detail = 'The voice is AI-generated with a confidence of 97.5%.';
  const message = { detail, type: 'forbidden_error', correlation_id: 'c', timestamp: '2026-11-21T00:00:00Z' };
  const headers = { 'x-correlation-id': 'c' };
  const { baseUrl } = await startFakeService(t, [
    { status: 403, headers, body: { statusCode: 403, message } },
  ]);
  const error = await refusal(new VeravoxClient({ baseUrl, apiKey: 'k' }).verify(noise(10), [1]));
  assert.deepEqual(
    [error.code, error.status, error.message, error.correlationId],
    ['forbidden_error', 403, detail, 'c'],
  );
});

test('an answer of something else than the service', async (t) => {
  const { baseUrl } = await startFakeService(t, [{ status: 502, body: '<html>Bad gateway</html>' }]);
  const error = await refusal(new VeravoxClient({ baseUrl, apiKey: 'k' }).predict(noise(10)));
  assert.deepEqual([error.code, error.status], ['unexpected_answer', 502]);
  assert.match(error.message, /Bad gateway/);
});

test('a success of something else than the service', async (t) => {
  const page = `<html>${'Sign in. '.repeat(100)}</html>`;
  const { baseUrl } = await startFakeService(t, [{ status: 200, body: page }]);
  const client = new VeravoxClient({ baseUrl, apiKey: 'k' });
  for (const call of [
    () => client.predict(noise(10)),
    () => client.listJobs(),
    () => new AdminClient({ baseUrl }).getHealth(),
    () => client.followJob('0b5c2f6e').next(),
  ]) {
    const error = await refusal(call());
    assert.deepEqual([error.code, error.status], ['unexpected_answer', 200]);
    assert.equal(error.message, `200 OK ${page.slice(0, 300)}`);
  }
});

test('a refusal by object storage', async (t) => {
  const body = '<Error><Code>AccessDenied</Code><Message>Request has expired</Message></Error>';
  const { baseUrl } = await startFakeService(t, [{ status: 403, body }]);
  const client = new VeravoxClient({ baseUrl, apiKey: 'k' });
  const error = await refusal(client.upload({ key: 'a/b', value: `${baseUrl}/b` }, noise(10)));
  assert.deepEqual([error.code, error.status], ['storage_error', 403]);
  assert.match(error.message, /^403 Forbidden Request has expired$/);
});

test('a connection that fails is reported as fetch does', async (t) => {
  const { baseUrl } = await startFakeService(t, [{ status: 200 }]);
  const client = new VeravoxClient({ baseUrl: baseUrl.replace('http:', 'https:'), apiKey: 'k' });
  await assert.rejects(client.predict(noise(10)), TypeError);
});
