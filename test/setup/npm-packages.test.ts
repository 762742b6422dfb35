// SPDX-License-Identifier: Apache-2.0
//
// The npm packages, installed from a registry on the loopback without compiler, network or clone. The addon is the clone's own;
// test/long/npm-packages.ts tries the one that users get.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { packageDir, packageVersion } from '../../src/base/config/package-dir.js';
import { runCli } from '../support/cli.js';
import { install, npx, packForNpm, serve, standInForPortableBuild } from '../support/installed-package.js';
import { startCollector } from '../support/otlp-collector.js';
import { startSwift } from '../support/storages.js';
import { packedFiles } from '../support/tarballs.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const run = promisify(execFile);
const fixture = path.join(packageDir, 'test/fixtures/ai-kokoro.flac');
const platform = `${process.platform}-${process.arch}`;

let folder = '';
let tarballs: readonly string[] = [];

before(async () => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'veravox-npm-packages-'));
  tarballs = await packForNpm(folder, standInForPortableBuild(folder));
});
after(() => fs.rmSync(folder, { recursive: true, force: true }));

test('without the package of the platform, the message names the platform and the way out', async (t) => {
  const installation = await install(t, tarballs, '--omit=optional');
  await assert.rejects(npx(installation, 'predict', fixture), ({ stderr }: { stderr: string }) => {
    assert.match(stderr, /The native addon could not be loaded: Cannot find module '@veravox\//);
    assert.ok(stderr.includes(`(${process.platform} ${process.arch})`), stderr);
    // The name of a file of this release: the packages are not in npm's registry.
    const [, named = ''] = /npm install \.\/(\S+\.tgz), /.exec(stderr) ?? [];
    assert.ok(tarballs.map((file) => path.basename(file)).includes(named), stderr);
    assert.ok(named.includes(platform), stderr);
    assert.ok(!stderr.includes('scripts/setup.mjs'), stderr);
    return true;
  });
});

test('npx veravox serves, predicts, stores files in S3 and sends traces', async (t) => {
  const installation = await install(t, tarballs);
  assert.deepEqual(installation.refused, [], 'npm asks for nothing of other platforms');
  const modules = path.join(installation.folder, 'node_modules');
  const binaries = fs
    .readdirSync(modules, { recursive: true, encoding: 'utf8' })
    .filter((file) => /uws\.node$|^@libsql\/[^/]+\/|veravox\.node$/.test(file) && file.endsWith('.node'));
  // Debian 12 needs the older uWebSockets.js, which Node 24 does not load.
  const uws = process.versions.node.startsWith('22.') ? 2 : 1;
  assert.equal(binaries.filter((file) => file.endsWith('uws.node')).length, uws, binaries.join());
  assert.equal(binaries.length, uws + 2, binaries.join());

  assert.equal((await npx(installation, '--version')).split(' ')[0], packageVersion);
  const file = { file: await fs.openAsBlob(fixture) };
  const own = await runCli(['predict', fixture, '--json'], {
    VERAVOX_DATA_DIR: path.join(temporaryFolder(t), 'data'),
  });
  const { global: expected } = JSON.parse(own.stdout) as { global: { score: number } };
  assert.ok(expected.score > 0.5);

  const collector = await startCollector(t);
  const { origin, apiKey } = await serve(t, installation, {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    VERAVOX_STORAGE_BUCKET: 'veravox',
    VERAVOX_STORAGE_ENDPOINT: await startSwift(t),
    AWS_ACCESS_KEY_ID: 'test:tester',
    AWS_SECRET_ACCESS_KEY: 'testing',
  });
  assert.ok(fs.existsSync(path.join(installation.env.HOME ?? '', '.local/state/veravox')));
  const call = (route: string, options: RequestInit): Promise<Response> =>
    fetch(origin + route, { headers: { 'x-api-key': apiKey }, ...options });
  const form = new FormData();
  form.set('file', file.file, 'ai-kokoro.flac');
  const answer = await call('/v1/predict', { method: 'POST', body: form });
  const { global } = (await answer.json()) as { global: { score: number } };
  assert.equal(global.score, expected.score);
  for (const page of ['/docs', '/dashboard/', '/openapi.json', '/readyz'])
    assert.equal((await call(page, {})).status, 200, page);

  const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' };
  const body = JSON.stringify({ keys: ['a.flac'], entity: 'analysis' });
  const links = await (await call('/v1/file', { method: 'POST', headers, body })).json();
  const [link] = (links as { url: { value: string }[] }).url;
  assert.equal((await fetch(link?.value ?? '', { method: 'PUT', body: file.file })).status, 200);
  const found = await (await call('/v1/file?key_prefix=a&entity=analysis', {})).text();
  assert.match(found, /a\.flac/);
  await collector.named('POST /v1/predict');
});

test('the packages hold what users need alone, and publint finds nothing', async () => {
  const server = tarballs.find((file) => /\/veravox-\d/.test(file)) ?? assert.fail(tarballs.join());
  const own = tarballs.find((file) => file !== server) ?? assert.fail(tarballs.join());
  const roots = new Set(packedFiles(server).map((file) => file.split('/')[0]));
  assert.deepEqual([...roots].sort(), [
    ...['LICENSE', 'README.md', 'THIRD-PARTY-LICENCES', 'dist', 'models', 'package.json', 'training'],
  ]);
  assert.deepEqual(packedFiles(own).sort(), [
    ...['LICENSE', 'README.md', 'licences/FFmpeg.txt', 'package.json', 'veravox.node'],
  ]);
  for (const tarball of tarballs) {
    await run(path.join(packageDir, 'node_modules/.bin/publint'), ['run', tarball, '--strict']);
  }
});
