// SPDX-License-Identifier: Apache-2.0
//
// Promised in docs/api.md#errors.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { FORM_TYPE, formBody } from '../support/form-body.js';
import { RawClient } from '../support/http-client.js';
import { human } from './support/audio.js';
import { type Answer, entriesOf, postForm, send } from './support/client.js';
import { endpoints, nameOf } from './support/endpoints.js';
import { expectError, expectPrediction } from './support/judge.js';
import { skipUnlessOwn, startConfigured } from './support/target.js';
import { wav } from './support/wav.js';

type Server = Awaited<ReturnType<typeof startConfigured>>;

const analyses = endpoints.filter(({ path }) => !path.endsWith('/file'));

describe('Server-Timing', () => {
  for (const endpoint of analyses) {
    test(`of ${nameOf(endpoint)} says what receive, queue, decode, features and inference took`, async () => {
      const { headers } = await endpoint.send();
      const timing = String(headers['server-timing']);
      for (const stage of ['receive', 'queue', 'decode', 'features', 'inference']) {
        const [, duration] = new RegExp(`(?:^|, *)${stage};dur=(\\d+(?:\\.\\d+)?)`).exec(timing) ?? [];
        assert.ok(Number(duration) >= 0, `${stage} in ${timing}`);
      }
    });
  }
});

/** Sends all but the end of a form, and resolves when the server has accepted the request. */
async function beginPredict(server: Server): Promise<{ client: RawClient; rest: Buffer }> {
  const body = formBody(entriesOf({ file: wav(human(5)) }));
  const client = await RawClient.connect(server.port);
  await client.write(
    `POST /v1/predict HTTP/1.1\r\nhost: localhost\r\nx-api-key: ${server.key}\r\ncontent-type: ${FORM_TYPE}\r\n` +
      `content-length: ${body.length}\r\nexpect: 100-continue\r\n\r\n`,
  );
  await client.until(/^HTTP\/1\.1 100 /);
  return { client, rest: body };
}

function predict({ origin, key }: Server): Promise<Answer> {
  return postForm('/v1/predict', { file: wav(human(5)) }, { origin, key });
}

function expectRetryAfter({ headers }: Answer): void {
  assert.match(String(headers['retry-after']), /^[1-9]\d*$/, 'Retry-After in seconds');
}

describe('503 temporary unavailability', { skip: skipUnlessOwn }, () => {
  let server: Server;
  before(async () => {
    server = await startConfigured({ VERAVOX_MAX_INFLIGHT_REQUESTS: '1' });
  });
  after(() => server.stop());

  test('a request too many is refused with Retry-After, and the next one is answered', async () => {
    const { client, rest } = await beginPredict(server);
    const refused = await predict(server);
    expectError(refused, 503);
    expectRetryAfter(refused);
    await client.write(rest);
    await client.until(/HTTP\/1\.1 200 /);
    expectPrediction(await predict(server));
  });
});

describe('429 rate limit exceeded', { skip: skipUnlessOwn }, () => {
  let server: Server;
  before(async () => {
    server = await startConfigured({ VERAVOX_RATE_LIMIT_REQUESTS: '4', VERAVOX_KEY_CONCURRENCY: '1' });
  });
  after(() => server.stop());

  test('a request too many of one key at a time, then in one window of time', async () => {
    const { client, rest } = await beginPredict(server);
    const concurrent = await predict(server);
    expectError(concurrent, 429);
    expectRetryAfter(concurrent);
    await client.write(rest);
    await client.until(/HTTP\/1\.1 200 /);

    const answers: Answer[] = [];
    do answers.push(await predict(server));
    while (answers.at(-1)?.status === 200 && answers.length < 5);
    assert.ok(answers.length >= 2, 'the limit was not reached by one request');
    for (const answer of answers.slice(0, -1)) expectPrediction(answer);
    const refused = answers.at(-1);
    assert.ok(refused);
    expectError(refused, 429);
    expectRetryAfter(refused);
    const limits = Object.keys(refused.headers).filter((name) => name.startsWith('ratelimit-'));
    assert.ok(limits.length > 0, 'RateLimit-* headers');
  });

  test('paths that do not exist and operational routes are not limited', async () => {
    const { origin } = server;
    for (let i = 0; i < 6; i++) expectError(await send('/v1/unknown', { origin }), 404);
  });
});

describe('408 and 500', { skip: skipUnlessOwn }, () => {
  let server: Server;
  before(async () => {
    // The file of the second test must arrive in time, even on a busy machine.
    server = await startConfigured({ VERAVOX_RECEIVE_TIMEOUT_MS: '5000', VERAVOX_ANALYSIS_TIMEOUT_MS: '1' });
  });
  after(() => server.stop());

  test('a body that does not arrive in time is 408 timeout', async () => {
    const { client } = await beginPredict(server);
    const received = await client.until(/HTTP\/1\.1 408 [\s\S]*\}/);
    const body = JSON.parse(received.slice(received.indexOf('{')));
    assert.equal(body.error, 'timeout');
    assert.equal(body.status, 408);
    assert.match(received, new RegExp(`x-correlation-id: ${body.correlation_id}`, 'i'));
  });

  test('a model that does not answer in time is 500 internal_error', async () => {
    const { origin, key } = server;
    const file = wav(human(30));
    expectError(await postForm('/v1/predict', { file }, { origin, key }), 500);
  });
});
