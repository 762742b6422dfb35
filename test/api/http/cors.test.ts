// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseCorsOrigin } from '../../../src/base/config/listen-address.js';
import { downloadLink, uploadLink } from '../../support/file-links.js';
import { fileEntry, formBody } from '../../support/form-body.js';
import { predict, request } from '../../support/http-client.js';
import { startTestServer } from '../../support/test-server.js';

const page = 'https://app.example';
const allowed = (headers: NodeJS.Dict<string | string[]>) => headers['access-control-allow-origin'];

function preflight(port: number, path: string, origin: string, wanted = 'x-api-key, content-type') {
  const headers = {
    origin,
    'access-control-request-method': 'POST',
    'access-control-request-headers': wanted,
  };
  return request(port, path, { method: 'OPTIONS', headers });
}

test('without configuration no page may read anything', async (t) => {
  const { port } = await startTestServer(t);
  assert.equal(allowed((await preflight(port, '/v1/predict', page)).headers), undefined);
  assert.equal(allowed((await request(port, '/livez', { headers: { origin: page } })).headers), undefined);
});

test('a page of a configured origin may ask, send its headers and read those of answers', async (t) => {
  const { port } = await startTestServer(t, { corsOrigins: [page, 'http://localhost:3000'] });
  const asked = await preflight(port, '/v1/predict', page);
  assert.equal(asked.status, 204);
  assert.equal(allowed(asked.headers), page);
  const methods = String(asked.headers['access-control-allow-methods']).split(', ');
  assert.deepEqual(methods, ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS']);
  assert.equal(asked.headers['access-control-allow-headers'], 'x-api-key, content-type');
  assert.equal(asked.headers['access-control-max-age'], '7200');
  assert.equal(asked.headers.vary, 'origin');
  assert.equal(asked.headers['access-control-allow-credentials'], undefined);

  const body = formBody([fileEntry('x')]);
  const good = await predict(port, body, { headers: { origin: page } });
  const early = await predict(port, body, { headers: { origin: page, 'x-api-key': 'wrong' } });
  const nowhere = await request(port, '/nowhere', { headers: { origin: page } });
  assert.deepEqual([good.status, early.status, nowhere.status], [200, 401, 404]);
  for (const { headers } of [good, early, nowhere]) {
    assert.equal(allowed(headers), page);
    const exposed = String(headers['access-control-expose-headers']).split(', ');
    for (const name of [
      'x-correlation-id',
      'ratelimit-remaining',
      'retry-after',
      'server-timing',
      'x-model-ids',
    ]) {
      assert.ok(exposed.includes(name), name);
    }
  }
  assert.equal(
    allowed((await preflight(port, '/v1/predict', 'http://localhost:3000')).headers),
    'http://localhost:3000',
  );
});

test('a page of another origin is told nothing, and caches are told that it depends', async (t) => {
  const { port } = await startTestServer(t, { corsOrigins: [page] });
  for (const origin of ['https://evil.example', 'https://app.example.evil', 'null', `${page}:444`]) {
    const { headers } = await preflight(port, '/v1/predict', origin);
    assert.equal(allowed(headers), undefined, origin);
    assert.equal(headers.vary, 'origin');
  }
  assert.equal((await request(port, '/livez')).headers.vary, 'origin');
});

test('a star lets every page read, and names none of them', async (t) => {
  const { port } = await startTestServer(t, { corsOrigins: ['*'] });
  const { headers } = await request(port, '/livez', { headers: { origin: page } });
  assert.equal(allowed(headers), '*');
  assert.equal(headers.vary, undefined);
});

test('malformed header names are not repeated', async (t) => {
  const { port } = await startTestServer(t, { corsOrigins: [page] });
  for (const wanted of ['a b', 'x-a;', 'a,,b', 'x'.repeat(65), Array(40).fill('a').join(',')]) {
    const { headers } = await preflight(port, '/v1/predict', page, wanted);
    assert.equal(headers['access-control-allow-headers'], undefined, wanted);
  }
});

test('a browser can put a file to a link and fetch it again', async (t) => {
  const server = await startTestServer(t, { corsOrigins: [page] });
  const { port } = server;
  const up = await uploadLink(server, 'call.wav');
  const path = (link: string): string => link.slice(new URL(link).origin.length);
  assert.equal(allowed((await preflight(port, path(up), page)).headers), page);
  const put = await request(port, path(up), {
    method: 'PUT',
    headers: { origin: page, 'content-length': 3 },
    body: Buffer.from('abc'),
  });
  assert.equal(put.status, 200, put.text);
  assert.equal(allowed(put.headers), page);
  const down = await downloadLink(server, 'call.wav');
  const got = await request(port, path(down), { headers: { origin: page } });
  assert.equal(got.text, 'abc');
  assert.equal(allowed(got.headers), page);
});

test('an origin is a star, or a scheme and a host as browsers write it', () => {
  for (const right of ['*', 'https://a.example', 'http://localhost:3000', 'chrome-extension://abc']) {
    const isOrigin = parseCorsOrigin(right) === right;
    assert.equal(isOrigin, !right.startsWith('chrome'), right);
  }
  for (const wrong of [
    '',
    'a.example',
    'https://a.example/',
    'https://a.example/x',
    'HTTPS://a.example',
    'null',
  ]) {
    assert.equal(parseCorsOrigin(wrong), undefined, wrong);
  }
});
