// SPDX-License-Identifier: Apache-2.0
//
// One version everywhere: server, client, changelog, and the server's own reports.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { packageDir } from '../../src/base/config/package-dir.js';
import { runCli } from '../support/cli.js';

const read = (file: string): string => fs.readFileSync(path.join(packageDir, file), 'utf8');
const { version } = JSON.parse(read('package.json'));
const releases = Array.from(
  read('CHANGELOG.md').matchAll(/^## (?!Unreleased$)(.*)$/gm),
  ([, heading]) => heading,
);

test('the changelog begins with the version of the server and of the client', () => {
  assert.equal(releases[0]?.split(' - ')[0], version);
  assert.equal(JSON.parse(read('client/package.json')).version, version);
  const { version: locked, packages } = JSON.parse(read('package-lock.json'));
  assert.deepEqual([locked, packages[''].version, packages.client.version], [version, version, version]);
});

test('each release has a version and a day, the latest first', () => {
  const days = releases.map((heading = '') => {
    const [, day] = /^\d+\.\d+\.\d+ - (\d{4}-\d\d-\d\d)$/.exec(heading) ?? [];
    assert.ok(day !== undefined && new Date(day).toISOString().startsWith(day), heading);
    return day;
  });
  assert.deepEqual(days, days.toSorted().reverse());
});

test('the server and the client’s page name this version', async () => {
  const { stdout } = await runCli(['--version']);
  assert.match(stdout.trim(), /^\d+\.\d+\.\d+ \((?:[0-9a-f]{12,40}(?:-dirty)?|unknown)\)$/);
  assert.equal(stdout.split(' ')[0], version);
  const document = JSON.parse((await runCli(['openapi'])).stdout);
  assert.equal(document.info.version, version);
  assert.ok(read('client/README.md').includes(`veravox-client-${version}.tgz`));
});
