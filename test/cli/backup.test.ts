// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { runCli, temporaryFolder } from '../support/cli.js';

test('a backup never replaces a file, and is not for PostgreSQL', async (t) => {
  const folder = temporaryFolder(t);
  const env = { VERAVOX_DATA_DIR: path.join(folder, 'data') };
  const file = path.join(folder, 'backup.db');
  fs.writeFileSync(file, 'another');
  const refused = await runCli(['backup', file], env);
  assert.equal(refused.status, 1);
  assert.match(refused.stderr, /backup\.db exists already/);
  assert.equal(fs.readFileSync(file, 'utf8'), 'another');
  const missing = await runCli(['backup', path.join(folder, 'nowhere', 'backup.db')], env);
  assert.equal(missing.status, 1);
  assert.match(missing.stderr, /no such file or folder/);
});

test('a backup is one file with everything, for its owner only, and a server starts from it', async (t) => {
  const folder = temporaryFolder(t);
  const env = { VERAVOX_DATA_DIR: path.join(folder, 'data') };
  await runCli(['keys', 'create', '--name', 'kept'], env);
  const file = path.join(folder, 'backup.db');
  assert.equal((await runCli(['backup', file], env)).status, 0);
  assert.equal(fs.statSync(file).mode & 0o777, 0o600);
  assert.deepEqual(fs.readdirSync(folder).sort(), ['backup.db', 'data']);
  await runCli(['keys', 'create', '--name', 'later'], env);

  const restored = path.join(folder, 'restored');
  fs.mkdirSync(restored);
  fs.copyFileSync(file, path.join(restored, 'veravox.db'));
  const { stdout } = await runCli(['keys', 'list'], { VERAVOX_DATA_DIR: restored });
  assert.match(stdout, / kept /);
  assert.doesNotMatch(stdout, / later /);
});
