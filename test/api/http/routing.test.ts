// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileEntry, formBody } from '../../support/form-body.js';
import { postForm, RawClient, request } from '../../support/http-client.js';
import { startJobServer } from '../../support/job-server.js';
import { API_KEY, startTestServer } from '../../support/test-server.js';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

const nowhere = [
  '/v1',
  '/v1/',
  '/v1/predict//',
  '/livez/',
  '/docs/',
  '//v1/predict',
  '/v1//predict',
  '/V1/predict',
  '/v1/Predict',
  '/v1/pr%65dict',
  '/v1/../v1/predict',
  '/v1/predict%2f',
  '/v1/predict;a=b',
  '/v2/predict',
];

test('a path that is not exactly a route is 404, with a key and without one, by every method', async (t) => {
  const { port } = await startTestServer(t);
  for (const path of nowhere) {
    for (const headers of [{}, { 'x-api-key': 'wrong' }, { 'x-api-key': API_KEY }]) {
      for (const method of ['GET', 'POST', 'OPTIONS', 'DELETE']) {
        const { status, json } = await request(port, path, { method, headers });
        assert.equal(status, 404, `${method} ${path}`);
        assert.equal(json.error, 'not_found');
        assert.match(json.correlation_id, UUID);
      }
    }
  }
});

test('a slash at the end of a route of the API changes nothing', async (t) => {
  const { port, metric } = await startTestServer(t);
  const body = formBody([fileEntry('x')]);
  const answer = await postForm(port, '/v1/predict/', body);
  assert.equal(answer.status, 200);
  assert.equal(await metric('veravox_http_requests_total{route="/v1/predict",status="200"}'), 1);
  assert.equal((await postForm(port, '/v1/predict/', body, { headers: { 'x-api-key': '' } })).status, 401);
  const wrong = await request(port, '/v1/predict/');
  assert.equal(wrong.status, 405);
  assert.equal(wrong.headers.allow, 'POST, OPTIONS');
});

test('a slash at the end of any route of the API changes nothing', async (t) => {
  const server = await startJobServer(t);
  const routes = server.server.routes.filter(({ scope, isSocket }) => scope !== undefined && !isSocket);
  assert.ok(routes.length >= 20);
  for (const { method, path, isWatch } of routes) {
    const address = path.replace(/\{\w+\}|\/$/, (part) => (part === '/' ? '/x' : 'x'));
    const answerTo = async (to: string) => {
      const { status, headers } = await request(server.port, to, {
        // A watched answer would go on for a minute.
        method: isWatch ? 'HEAD' : method,
        headers: { 'x-api-key': API_KEY },
      });
      return [status, headers['x-error-key']];
    };
    assert.deepEqual(await answerTo(`${address}/`), await answerTo(address), `${method} ${address}`);
  }
});

test('a browser that opens the address finds the documentation', async (t) => {
  const { port } = await startTestServer(t);
  const { status, text, headers } = await request(port, '/');
  assert.equal(status, 200);
  assert.match(String(headers['content-type']), /^text\/html/);
  assert.match(String(headers['content-security-policy']), /^default-src 'none'/);
  const links = [...text.matchAll(/<a href="([^"]+)"/g)].map(([, link]) => `/${link}`);
  assert.deepEqual(links, ['/docs', '/openapi.json']);
  for (const link of links) assert.equal((await request(port, link)).status, 200, link);
});

test('a known path by another method is 405 and says which there are, key or no key', async (t) => {
  const { port } = await startTestServer(t);
  const cases: [path: string, method: string, allow: string][] = [
    ['/v1/predict', 'GET', 'POST, OPTIONS'],
    ['/v1/predict', 'PUT', 'POST, OPTIONS'],
    ['/v1/predict', 'post', 'POST, OPTIONS'],
    ['/', 'PATCH', 'GET, HEAD, OPTIONS'],
    ['/livez', 'POST', 'GET, HEAD, OPTIONS'],
    ['/metrics', 'PROPFIND', 'GET, HEAD, OPTIONS'],
  ];
  for (const [path, method, allow] of cases) {
    for (const key of ['', 'wrong', API_KEY]) {
      const client = await RawClient.connect(port);
      await client.write(
        `${method} ${path} HTTP/1.1\r\nhost: a\r\nx-api-key: ${key}\r\ncontent-length: 0\r\n\r\n`,
      );
      const answer = await client.until(/\}(\r\n)?$/);
      client.socket.destroy();
      assert.match(answer, /^HTTP\/1\.1 405 Method Not Allowed\r\n/);
      assert.ok(answer.includes(`\r\nallow: ${allow}\r\n`), answer);
      assert.match(answer, /"error":"method_not_allowed".*"status":405/);
    }
  }
});

test('HEAD is answered like GET without a body, and where there is no GET, like any other wrong method', async (t) => {
  const { port } = await startTestServer(t);
  const agentless = { method: 'HEAD' };
  const live = await request(port, '/livez', agentless);
  assert.equal(live.status, 200);
  assert.equal(live.text, '');
  assert.equal(live.headers['content-length'], String('{"alive":true}'.length));
  const predict = await request(port, '/v1/predict', agentless);
  assert.equal(predict.status, 405);
  assert.equal(predict.text, '');
  assert.equal(predict.headers.allow, 'POST, OPTIONS');
  assert.match(String(predict.headers['x-correlation-id']), UUID);
  assert.equal((await request(port, '/nowhere', agentless)).status, 404);
});

test('OPTIONS says what is allowed and needs no key', async (t) => {
  const { port } = await startTestServer(t);
  const answer = await request(port, '/v1/predict', { method: 'OPTIONS' });
  assert.equal(answer.status, 204);
  assert.equal(answer.headers.allow, 'POST, OPTIONS');
  assert.equal(answer.text, '');
});

test('a query that a route does not ask for is ignored, and names no route of its own', async (t) => {
  const { port, metric } = await startTestServer(t);
  const body = formBody([fileEntry('x')]);
  const headers = { 'x-api-key': API_KEY, 'content-type': 'multipart/form-data; boundary=the-boundary' };
  for (const query of ['?', '?threshold=2', '?a=b&a=c', '?%00', '?/../x']) {
    const { status } = await request(port, `/v1/predict${query}`, { method: 'POST', headers, body });
    assert.equal(status, 200, query);
  }
  assert.equal(await metric('veravox_http_requests_total{route="/v1/predict",status="200"}'), 5);
  assert.equal((await request(port, '/livez?x=1')).status, 200);
});
