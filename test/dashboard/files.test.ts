// SPDX-License-Identifier: Apache-2.0
//
// Dashboard files that the server sends before sign-in.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { test } from 'node:test';
import zlib from 'node:zlib';
import { packageDir } from '../../src/base/config/package-dir.js';
import { RawClient, request } from '../support/http-client.js';
import { startJobServer } from '../support/job-server.js';
import { startTestServer } from '../support/test-server.js';

const assetsIn = (page: string): string[] =>
  [...page.matchAll(/(?:src|href)="(assets\/[^"]+)"/g)].map(([, name]) => String(name));

function rawBytes(port: number, path: string, encoding: string): Promise<[http.IncomingMessage, Buffer]> {
  return new Promise((resolve, reject) => {
    const headers = { 'accept-encoding': encoding };
    http
      .get({ host: '127.0.0.1', port, path, headers, agent: false }, (answer) => {
        const pieces: Buffer[] = [];
        answer.on('data', (piece) => pieces.push(piece));
        answer.on('end', () => resolve([answer, Buffer.concat(pieces)]));
      })
      .on('error', reject);
  });
}

test('with the dashboard off nothing of it is reachable', async (t) => {
  const { port } = await startTestServer(t, { dashboard: 'off' });
  const asBrowser = { headers: { accept: 'text/html' } };
  const page = assetsIn(fs.readFileSync(path.join(packageDir, 'dist/dashboard/index.html'), 'utf8'));
  for (const each of ['', '/', ...page.map((name) => `/${name}`), '/LICENSES.txt']) {
    assert.equal((await request(port, `/dashboard${each}`, asBrowser)).status, 404, each);
  }
  const root = await request(port, '/', asBrowser);
  assert.equal(root.status, 200);
  assert.doesNotMatch(root.text, /dashboard/);
});

test('with an admin address the dashboard is only there', async (t) => {
  const { port, server } = await startJobServer(t, { adminAddress: { host: '127.0.0.1', port: 0 } });
  assert.equal((await request(port, '/dashboard/')).status, 404);
  assert.equal((await request(port, '/', { headers: { accept: 'text/html' } })).status, 200);
  assert.equal((await request(server.adminPort ?? 0, '/dashboard/')).status, 200);
});

test('no path under the dashboard leads to other files', async (t) => {
  const { port } = await startJobServer(t);
  for (const each of [
    '/dashboard/../package.json',
    '/dashboard/%2e%2e/package.json',
    '/dashboard/assets',
    '/dashboard/assets/',
    '/dashboard//index.html',
    '/dashboard/assets/../../docs-page/LICENSE',
    `/dashboard/${assetsIn(fs.readFileSync(path.join(packageDir, 'dist/dashboard/index.html'), 'utf8'))[0]}.br`,
  ]) {
    const client = await RawClient.connect(port);
    await client.write(`GET ${each} HTTP/1.1\r\nhost: localhost\r\n\r\n`);
    await client.until(/^HTTP\/1\.1 404 /);
    client.socket.destroy();
  }
});

test('a browser that opens the address is led to the dashboard, a program is not', async (t) => {
  const { port } = await startJobServer(t);
  const browser = await request(port, '/', { headers: { accept: 'text/html,*/*;q=0.8' } });
  assert.equal(browser.status, 302);
  assert.equal(browser.headers.location, 'dashboard/');
  assert.equal((await request(port, '/', { headers: { accept: '*/*' } })).status, 200);
  const start = await request(port, '/dashboard');
  assert.equal(start.status, 308);
  assert.equal(start.headers.location, 'dashboard/');
});

test('nothing runs on the page but its own files', async (t) => {
  const { port } = await startJobServer(t);
  const { headers, text } = await request(port, '/dashboard/');
  const policy = String(headers['content-security-policy']);
  assert.match(policy, /^default-src 'none';/);
  assert.match(policy, /script-src 'self';/);
  assert.match(policy, /frame-ancestors 'none'/);
  assert.doesNotMatch(policy, /unsafe|\*|https?:/);
  assert.equal(headers['x-content-type-options'], 'nosniff');
  assert.equal(headers['cache-control'], 'no-cache');
  assert.doesNotMatch(text, /https?:|["']\/\/|<style|style=|<script>/);
});

test('its files are compressed, kept by browsers, and the same however they are sent', async (t) => {
  const { port } = await startJobServer(t);
  const names = assetsIn((await request(port, '/dashboard/')).text);
  assert.equal(names.length, 2);
  for (const name of names) {
    const [plain, content] = await rawBytes(port, `/dashboard/${name}`, 'identity');
    assert.equal(plain.headers['content-encoding'], undefined);
    assert.match(String(plain.headers['cache-control']), /immutable/);
    const [br, brotli] = await rawBytes(port, `/dashboard/${name}`, 'gzip, deflate, br');
    assert.equal(br.headers['content-encoding'], 'br');
    assert.deepEqual(zlib.brotliDecompressSync(brotli), content);
    const [gz, gzip] = await rawBytes(port, `/dashboard/${name}`, 'br;q=0, gzip');
    assert.equal(gz.headers['content-encoding'], 'gzip');
    assert.deepEqual(zlib.gunzipSync(gzip), content);
  }
});

test('the whole dashboard is smaller than 300 KB', () => {
  const folder = path.join(packageDir, 'dist/dashboard/assets');
  const sizes = fs
    .readdirSync(folder)
    .filter((name) => name.endsWith('.gz'))
    .map((name) => fs.statSync(path.join(folder, name)).size);
  const total = sizes.reduce((sum, size) => sum + size, 0);
  assert.ok(total > 0 && total < 300_000, `${total} bytes`);
});
