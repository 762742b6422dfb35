// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { FirstStart } from '../../src/cli/first-start.js';
import { openDatabase } from '../../src/state/database/open-database.js';
import type { StoredKey } from '../../src/state/keys/api-key.js';
import { KeyTable } from '../../src/state/keys/key-table.js';
import { Cli, runCli } from '../support/cli.js';
import { sqliteIn } from '../support/stored-keys.js';
import { temporaryFolder } from '../support/temporary-folder.js';

function place(t: TestContext) {
  const folder = temporaryFolder(t);
  const env = {
    PORT: '0',
    VERAVOX_DATA_DIR: path.join(folder, 'data'),
    VERAVOX_FIRST_KEY_FILE: path.join(folder, "it's a key"),
  };
  return { env, file: env.VERAVOX_FIRST_KEY_FILE };
}

test('no key is made where the file for it cannot be written', async (t) => {
  const { env } = place(t);
  const { status, stderr } = await runCli(['serve'], { ...env, VERAVOX_FIRST_KEY_FILE: '/nowhere/at/all' });
  assert.equal(status, 1);
  assert.match(stderr, /\/nowhere\/at\/all/);
  assert.equal((await runCli(['keys', 'list'], env)).stdout, 'No keys.\n');
});

test('the file holds the key before the database does, and no longer if another host was quicker', async (t) => {
  const folder = temporaryFolder(t);
  const file = path.join(folder, 'key');
  const database = await openDatabase(sqliteIn(folder));
  t.after(() => database.close());
  let held = '';
  class Watched extends KeyTable {
    override storeFirst(key: StoredKey): Promise<boolean> {
      held = fs.readFileSync(file, 'utf8');
      return super.storeFirst(key);
    }
  }
  const table = new Watched(database);
  const [first, later] = [await FirstStart.prepare(table, file), await FirstStart.prepare(table, file)];
  assert.equal(`${(await first?.createKey())?.text}\n`, held);
  assert.equal(fs.readFileSync(file, 'utf8'), held);
  assert.equal(fs.statSync(file).mode & 0o777, 0o600);
  assert.equal(await later?.createKey(), undefined);
  assert.deepEqual(
    fs.readdirSync(folder).filter((name) => name.startsWith('key')),
    [],
  );
});

test('the first key goes into the file that is set, which only its user can read, and the curl line takes it from there', async (t) => {
  const { env, file } = place(t);
  fs.writeFileSync(file, 'of an earlier server', { mode: 0o644 });
  const cli = new Cli(['serve'], env);
  t.after(() => cli.child.kill('SIGKILL'));
  const [, curl = ''] = await cli.printed(/^ {2}(curl .*)$/m);
  assert.equal(fs.statSync(file).mode & 0o777, 0o600);
  const key = fs.readFileSync(file, 'utf8').trimEnd();
  assert.match(key, /^vx_/);
  const { stdout } = await promisify(execFile)('sh', ['-c', `${curl} -s -o /dev/null -w '%{http_code}'`]);
  assert.equal(stdout, '200');
  cli.child.kill('SIGTERM');
  const finished = await cli.finished;
  assert.equal(finished.status, 0);
  assert.ok(!(finished.stdout + finished.stderr).includes(key));

  const again = new Cli(['serve'], env);
  t.after(() => again.child.kill('SIGKILL'));
  await again.printed(/is ready on/);
  assert.equal(fs.readFileSync(file, 'utf8').trimEnd(), key);
  again.child.kill('SIGTERM');
  assert.equal((await again.finished).status, 0);
});
