// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import net from 'node:net';
import { test } from 'node:test';
import { parseListenAddress } from '../../src/base/config/listen-address.js';
import { fileEntry, formBody } from '../support/form-body.js';
import { predict, request } from '../support/http-client.js';
import { ADMIN_API_KEY, API_KEY, startTestServer } from '../support/test-server.js';

const adminAddress = { host: '127.0.0.1', port: 0 };
const secretPath = '/opt/cuda/lib/libcudart.so.12: cannot open shared object file';

const withFallback = { provider: 'cpu', fallbackReason: secretPath } as const;

test('with an admin address, what is for operators is only there; probes and the API are on both', async (t) => {
  const { server, port, metric } = await startTestServer(t, { adminAddress });
  const admin = server.adminPort ?? 0;
  assert.ok(admin > 0 && admin !== port);
  for (const path of ['/metrics', '/docs', '/docs/swagger-ui.css', '/docs/swagger-ui-bundle.js']) {
    assert.equal((await request(admin, path)).status, 200, path);
    const { status, json } = await request(port, path, { headers: { 'x-api-key': ADMIN_API_KEY } });
    assert.equal(status, 404, path);
    assert.equal(json.error, 'not_found');
  }
  for (const path of ['/livez', '/readyz', '/openapi.json', '/']) {
    assert.equal((await request(admin, path)).status, 200, path);
    assert.equal((await request(port, path)).status, 200, path);
  }
  const body = formBody([fileEntry('x')]);
  for (const either of [admin, port]) assert.equal((await predict(either, body)).status, 200);
  assert.equal(await metric('veravox_http_requests_total{route="/v1/predict",status="200"}'), 2);
  assert.doesNotMatch((await request(port, '/')).text, /href="docs"/);
  assert.match((await request(admin, '/')).text, /href="docs"/);
});

test('readyz tells strangers whether and no more; the admin address and keys with the scope admin hear why', async (t) => {
  const { server, port, analyser } = await startTestServer(t, { adminAddress });
  analyser.currentStatus = { ...analyser.currentStatus, ...withFallback };
  for (const headers of [{}, { 'x-api-key': API_KEY }, { 'x-api-key': 'wrong' }]) {
    const { json, text } = await request(port, '/readyz', { headers });
    assert.deepEqual(json, { ready: true, state: 'ready' });
    assert.doesNotMatch(text, /cuda|\/opt/);
  }
  const ofKey = await request(port, '/readyz', { headers: { 'x-api-key': ADMIN_API_KEY } });
  const ofAdmin = await request(server.adminPort ?? 0, '/readyz');
  assert.equal(ofKey.json.fallback_reason, secretPath);
  assert.deepEqual(ofAdmin.json, ofKey.json);
});

test('no answer to a stranger names a path of this machine, without an admin address either', async (t) => {
  const { port, server, analyser } = await startTestServer(t);
  analyser.currentStatus = { ...analyser.currentStatus, ...withFallback };
  for (const { path } of server.routes) {
    const { text } = await request(port, path);
    assert.ok(!text.includes(secretPath), path);
    assert.ok(!text.includes(process.cwd()), path);
  }
});

test('operators get in when strangers hold all connections', async (t) => {
  const { server, port } = await startTestServer(t, { adminAddress, maxConnections: 2 });
  const strangers = Array.from({ length: 2 }, () => net.connect(port, '127.0.0.1'));
  t.after(() => {
    for (const socket of strangers) socket.destroy();
  });
  assert.equal((await request(server.adminPort ?? 0, '/metrics')).status, 200);
});

test('the admin port is taken exclusively, too, and a failure leaves nothing listening', async (t) => {
  const first = await startTestServer(t, { adminAddress });
  const port = first.server.adminPort ?? 0;
  await assert.rejects(
    startTestServer(t, { adminAddress: { host: '127.0.0.1', port } }),
    new RegExp(`Cannot listen on 127\\.0\\.0\\.1 port ${port}: another program listens there`),
  );
});

test('an address is a host and a port', () => {
  assert.deepEqual(parseListenAddress('127.0.0.1:9090'), { host: '127.0.0.1', port: 9090 });
  assert.deepEqual(parseListenAddress('[::1]:0'), { host: '::1', port: 0 });
  assert.deepEqual(parseListenAddress('localhost:80'), { host: 'localhost', port: 80 });
  for (const wrong of ['', '9090', ':9090', 'a:', 'a:65536', '::1:80', '[x]:80', 'http://a:80', 'a b:80']) {
    assert.equal(parseListenAddress(wrong), undefined, wrong);
  }
});
