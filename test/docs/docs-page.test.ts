// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import { buffer } from 'node:stream/consumers';
import { test } from 'node:test';
import zlib from 'node:zlib';
import { RawClient, request } from '../support/http-client.js';
import { startTestServer } from '../support/test-server.js';

test('the docs page takes everything from this server', async (t) => {
  const { port } = await startTestServer(t);
  const { status, text, headers } = await request(port, '/docs');
  assert.equal(status, 200);
  assert.match(String(headers['content-type']), /^text\/html/);
  assert.doesNotMatch(text, /https?:|["']\/\//);

  const types: Record<string, RegExp> = { css: /^text\/css/, js: /^text\/javascript/ };
  const parts = [...text.matchAll(/(?:src|href)="(docs\/[^"]+)"/g)].map(([, part]) => String(part));
  assert.equal(parts.length, 2);
  for (const part of parts) {
    const answer = await request(port, `/${part}`);
    assert.equal(answer.status, 200, part);
    assert.match(String(answer.headers['content-type']), types[part.split('.').at(-1) ?? ''] ?? /never/);
    assert.equal(answer.headers['x-content-type-options'], 'nosniff');
    assert.ok(answer.text.length > 100_000, part);
  }
});

test('nothing runs on the docs page but what it names', async (t) => {
  const { port } = await startTestServer(t);
  const { text, headers } = await request(port, '/docs');
  const policy = String(headers['content-security-policy']);
  const inline = /<script>([\s\S]+?)<\/script>/.exec(text)?.[1] ?? '';
  const hash = createHash('sha256').update(inline).digest('base64');
  assert.match(policy, /^default-src 'none';/);
  assert.ok(policy.includes(`script-src 'self' 'sha256-${hash}';`));
  assert.ok(policy.includes("connect-src 'self';"));
  assert.doesNotMatch(policy, /unsafe|\*|https?:/);
});

test('no path under /docs leads anywhere else', async (t) => {
  const { port } = await startTestServer(t);
  for (const path of [
    '/docs/../package.json',
    '/docs/%2e%2e/package.json',
    '/docs/LICENSE',
    '/docs/',
    '/docs//swagger-ui.css',
  ]) {
    const client = await RawClient.connect(port);
    await client.write(`GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`);
    await client.until(/^HTTP\/1\.1 404 /);
    client.socket.destroy();
  }
});

test('the API document is sent compressed, and not again to a client that has it', async (t) => {
  const { port } = await startTestServer(t);
  const get = async (headers: Record<string, string>) => {
    const sent = http.get({ port, host: '127.0.0.1', path: '/openapi.json', headers });
    const answer = (await once(sent, 'response'))[0] as http.IncomingMessage;
    return { status: answer.statusCode, headers: answer.headers, body: await buffer(answer) };
  };
  const plain = await get({});
  assert.equal(plain.headers['content-encoding'], undefined);
  const tag = String(plain.headers.etag);
  for (const [accepted, decode] of [
    ['gzip, deflate, br', zlib.brotliDecompressSync],
    ['gzip', zlib.gunzipSync],
    ['br;q=0, gzip;q=0.5', zlib.gunzipSync],
  ] as const) {
    const { headers, body } = await get({ 'accept-encoding': accepted });
    assert.equal(headers.vary, 'accept-encoding');
    assert.equal(headers.etag, tag);
    assert.ok(body.length < plain.body.length / 5, `${body.length} bytes`);
    assert.ok(decode(body).equals(plain.body));
  }
  for (const known of [tag, `"other", ${tag}`, tag.slice(2), '*']) {
    const { status, body, headers } = await get({ 'if-none-match': known });
    assert.deepEqual([status, body.length, headers.etag], [304, 0, tag], known);
  }
  assert.equal((await get({ 'if-none-match': 'W/"other"' })).status, 200);
});
