// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { Cli, runCli } from '../support/cli.js';
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
