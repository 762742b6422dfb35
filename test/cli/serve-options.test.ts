// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { packageDir } from '../../src/base/config/package-dir.js';
import { Cli, runCli, temporaryFolder } from '../support/cli.js';
import { writeTinyModels } from '../support/tiny-models.js';

const main = path.join(packageDir, 'dist/cli/main.js');

for (const [what, processes] of [
  ['one process', '0'],
  ['two processes', '2'],
]) {
  test(`--port and --host win over PORT and HOST, with ${what}`, async (context) => {
    const server = new Cli(['serve', '--port', '0', '--host', '127.0.0.1'], {
      PORT: '1',
      HOST: '192.0.2.1',
      VERAVOX_PROCESSES: processes as string,
      VERAVOX_DATA_DIR: temporaryFolder(context),
      VERAVOX_MODELS_DIR: writeTinyModels(temporaryFolder(context), 'even'),
    });
    context.after(async () => {
      server.child.kill('SIGKILL');
      await server.finished;
    });
    const [, address] = await server.printed(/ready on (http:\/\/127\.0\.0\.1:[1-9]\d*)/);
    assert.equal((await fetch(`${address}/livez`)).status, 200);
    server.child.kill('SIGTERM');
    assert.equal((await server.finished).status, 0);
  });
}

test('a wrong --port is refused as PORT would be', async () => {
  const { status, stderr } = await runCli(['serve', '--port', 'http']);
  assert.equal(status, 1);
  assert.match(stderr, /an integer from 0 to 65535 for PORT but received http/);
});

test('settings may come from a file', (context) => {
  const file = path.join(temporaryFolder(context), 'veravox.env');
  fs.writeFileSync(file, 'PORT=none\nVERAVOX_RECEIVE_TIMEOUT_MS=forever\n');
  const { PATH = '' } = process.env;
  const { status, stderr } = spawnSync(process.execPath, [`--env-file=${file}`, main, 'serve'], {
    env: { PATH },
    encoding: 'utf8',
  });
  assert.equal(status, 1);
  assert.match(stderr, /2 problems with the settings:[\s\S]*received none[\s\S]*received forever/);
});
