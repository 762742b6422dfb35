// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { test } from 'node:test';
import { Cli, temporaryFolder } from './support/cli.js';
import { eventually } from './support/eventually.js';
import { request } from './support/http-client.js';
import { openFilesOf } from './support/open-files.js';

/** The IPv4 port on which another process listens, or undefined as long as there is none. */
function listeningPort(pid: number): number | undefined {
  const open = openFilesOf(pid);
  for (const line of fs.readFileSync(`/proc/${pid}/net/tcp`, 'utf8').split('\n')) {
    const [, local = '', , state, , , , , , inode] = line.trim().split(/\s+/);
    if (state === '0A' && open.includes(`socket:[${inode}]`)) return Number.parseInt(local.slice(-4), 16);
  }
  return undefined;
}

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
  const pid = cli.child.pid ?? assert.fail();
  let port: number | undefined;
  const isUp = () => {
    port = listeningPort(pid);
    return port !== undefined;
  };
  await Promise.race([eventually(isUp, 'it listens'), cli.finished]);
  assert.ok(port !== undefined, cli.stderr);
  for (let times = 0; times < 3; times++) assert.equal((await request(port, '/readyz')).status, 200);
  cli.child.kill('SIGTERM');
  const { status, stderr } = await cli.finished;
  assert.deepEqual([status, stderr], [0, '']);
});
