// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Cli, temporaryFolder } from '../support/cli.js';
import { request } from '../support/http-client.js';
import { listeningPortOf } from '../support/listening-port.js';

test('a command whose reader is gone ends without a word', async () => {
  const cli = new Cli(['openapi']);
  cli.child.stdout?.destroy();
  const { status, stderr } = await cli.finished;
  assert.deepEqual([status, stderr], [141, '']);
});

test('a server whose reader is gone goes on, and its stop is clean', async (t) => {
  const cli = new Cli(['serve'], { PORT: '0', VERAVOX_DATA_DIR: temporaryFolder(t) });
  t.after(() => cli.child.kill('SIGKILL'));
  cli.child.stdout?.destroy();
  const port = await listeningPortOf(cli.child.pid ?? assert.fail());
  for (let times = 0; times < 3; times++) assert.equal((await request(port, '/readyz')).status, 200);
  cli.child.kill('SIGTERM');
  const { status, stderr } = await cli.finished;
  assert.deepEqual([status, stderr], [0, '']);
});

test('a command whose output does not fit on the disk says so and fails', async () => {
  const { status, stderr } = await new Cli(
    ['openapi'],
    {},
    { runner: ['sh', '-c', 'exec "$@" >/dev/full', 'sh'] },
  ).finished;
  assert.equal(status, 1);
  assert.equal(stderr, 'veravox: The output cannot be written: ENOSPC: no space left on device, write\n');
});
