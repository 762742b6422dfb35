// SPDX-License-Identifier: Apache-2.0
//
// Promised in docs/api.md#analyse-a-stored-file.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { human } from './support/audio.js';
import { postJson } from './support/client.js';
import { expectError, expectPrediction } from './support/judge.js';
import { skipUnlessOwn, startConfigured } from './support/target.js';
import { wav } from './support/wav.js';

/** An HTTP server that acts as an object storage, or as a forbidden host. */
async function startHost(answer: http.RequestListener): Promise<{ origin: string; server: http.Server }> {
  const server = http.createServer(answer);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server };
}

describe('POST /predict (v1): what is behind presigned_url', { skip: skipUnlessOwn }, () => {
  const speech = wav(human(6));
  const hosts: http.Server[] = [];
  let veravox: Awaited<ReturnType<typeof startConfigured>>;
  let storage: string;
  let otherHost: string;
  let askedOtherHost = 0;

  const answers: Record<string, http.RequestListener> = {
    '/audio': (_, response) => response.end(speech),
    '/missing': (_, response) => response.writeHead(404).end('no such key'),
    '/refused': (_, response) => response.writeHead(403).end('expired'),
    '/moved-away': (_, response) => response.writeHead(302, { location: `${otherHost}/audio` }).end(),
    '/silent': () => {},
    '/trickle': (_, response) => response.write(speech.subarray(0, 100)),
    '/endless': (_, response) => {
      const more = (): boolean => !response.destroyed && response.write(Buffer.alloc(65_536), more);
      more();
    },
  };

  before(async () => {
    const other = await startHost((_, response) => {
      askedOtherHost++;
      response.end(speech);
    });
    const store = await startHost((request, response) => {
      answers[new URL(request.url ?? '', 'http://any').pathname]?.(request, response);
    });
    hosts.push(other.server, store.server);
    otherHost = other.origin;
    storage = store.origin;
    veravox = await startConfigured({
      VERAVOX_STORAGE_ENDPOINT: storage,
      VERAVOX_STORAGE_BUCKET: 'recordings',
      VERAVOX_STORAGE_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'an-id',
      AWS_SECRET_ACCESS_KEY: 'a-secret',
      // Enough for requests sent at once, even on a busy machine.
      VERAVOX_FETCH_TIMEOUT_MS: '5000',
    });
  });
  after(async () => {
    await veravox?.stop();
    for (const host of hosts) {
      host.closeAllConnections();
      host.close();
    }
  });

  const predict = (url: string) =>
    postJson('/v1/predict', { presigned_url: url }, { origin: veravox.origin, key: veravox.key });

  test('the configured storage may have a private address', async () => {
    const { audio_duration } = expectPrediction(await predict(`${storage}/audio?X-Amz-Signature=0`));
    assert.equal(audio_duration, 6);
  });
  for (const [path, status] of [
    ['/missing', 404],
    ['/refused', 403],
  ] as const) {
    test(`a ${status} of the storage is 400 and names that status`, async () => {
      expectError(await predict(storage + path), 400, new RegExp(`\\b${status}\\b`));
    });
  }
  test('another private host is not even asked, also not after a redirect', async () => {
    expectError(await predict(`${otherHost}/audio`), 400, /presigned_url/);
    expectError(await predict(`${storage}/moved-away`), 400);
    assert.equal(askedOtherHost, 0);
  });
  test('a storage that does not begin or does not finish in time is 500', async () => {
    const paths = ['/silent', '/trickle'];
    for (const answer of await Promise.all(paths.map((path) => predict(storage + path)))) {
      expectError(answer, 500);
    }
  });
  test('more bytes than 5 MiB, of no announced number, are 413 and /predict/large-file is named', async () => {
    expectError(await predict(`${storage}/endless`), 413, /\/predict\/large-file/);
  });
});
