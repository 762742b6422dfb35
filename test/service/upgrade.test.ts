// SPDX-License-Identifier: Apache-2.0
//
// A data folder that veravox 0.3.0 wrote, with its database as SQL text, under the present server: everything is as it was.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { VeravoxClient } from '../../client/src/client.js';
import type { Job } from '../../client/src/types.js';
import { packageDir } from '../../src/base/config/package-dir.js';
import { Cli, runCli, temporaryFolder } from '../support/cli.js';
import { writeTinyModels } from '../support/tiny-models.js';

const LOAD = 'import sqlite3, sys; sqlite3.connect(sys.argv[1]).executescript(sys.stdin.read())';

test('a server continues with the data of 0.3.0: keys, usage, jobs, files, webhook secrets and audit', async (t) => {
  const folder = temporaryFolder(t);
  const dataDir = path.join(folder, 'data');
  fs.cpSync(path.join(packageDir, 'test/fixtures/data-0.3.0'), dataDir, { recursive: true });
  const input = fs.readFileSync(path.join(dataDir, 'veravox.sql'));
  execFileSync('/usr/bin/python3', ['-c', LOAD, path.join(dataDir, 'veravox.db')], { input });
  const expected = JSON.parse(fs.readFileSync(path.join(dataDir, 'expected.json'), 'utf8')) as {
    key: string;
    job: Job;
    usage: readonly unknown[];
  };
  for (const name of ['veravox.sql', 'expected.json']) fs.rmSync(path.join(dataDir, name));
  const models = path.join(folder, 'models');
  fs.mkdirSync(models);
  const env = {
    PORT: '0',
    VERAVOX_DATA_DIR: dataDir,
    VERAVOX_MODELS_DIR: writeTinyModels(models, 'even'),
    VERAVOX_SCORING_THREADS: '1',
  };
  const server = new Cli(['serve'], env);
  t.after(async () => {
    server.child.kill('SIGKILL');
    await server.finished;
  });
  const [, origin = ''] = await server.printed(/is ready on (http:\S+)\n/);
  const { stdout } = await runCli(['usage', '--json'], env);
  assert.deepEqual(
    stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line)),
    expected.usage,
  );
  const audit = await runCli(['audit', 'verify'], env);
  assert.equal(audit.status, 0, audit.stdout + audit.stderr);
  assert.match((await runCli(['webhooks', 'secrets'], env)).stdout, /^whs_\w+ +acme /m);
  const client = new VeravoxClient({ baseUrl: origin, apiKey: expected.key });
  assert.deepEqual(await client.getJob(expected.job.id), expected.job);
  const { url } = await client.getDownloadLinks('');
  assert.deepEqual(
    url.map(({ key }) => key),
    ['analysis/note.txt'],
  );
  assert.equal(await (await fetch(url[0]?.value ?? '')).text(), 'of 0.3.0');
});
