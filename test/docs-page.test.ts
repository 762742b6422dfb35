// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { RawClient, request } from './support/http-client.js';
import { startTestServer } from './support/test-server.js';

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
