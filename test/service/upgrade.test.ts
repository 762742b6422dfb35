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

/** @returns the data folder, and what is in it */
function dataOf030(folder: string) {
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
  return { dataDir, expected };
}

test('only a start updates the tables: until then, commands refuse them, and backups are for both versions', async (t) => {
  const folder = temporaryFolder(t);
  const { dataDir } = dataOf030(folder);
  const env = { VERAVOX_DATA_DIR: dataDir };
  const database = path.join(dataDir, 'veravox.db');
  const stepsDone = (file: string): string => {
    const query =
      'import sqlite3, sys; print(*sqlite3.connect(sys.argv[1]).execute("SELECT name FROM schema_migrations"))';
    return execFileSync('/usr/bin/python3', ['-c', query, file], { encoding: 'utf8' });
  };
  const before = stepsDone(database);
  const clip = path.join(packageDir, 'test/fixtures/human-lj-a.flac');
  const clips = Array.from({ length: 10 }, (_, i) => path.join(folder, `${i}.flac`));
  for (const copy of clips) fs.copyFileSync(clip, copy);
  const list = path.join(folder, 'list.csv');
  fs.writeFileSync(list, `path,label\n${clip},bonafide\n`);
  const copied = { ...env, VERAVOX_DATABASE_URL: 'postgres://nobody:secret@127.0.0.1:1/none' };
  const commands: [string[], Record<string, string>][] = [
    [['predict', clip, '--threshold', 'low-risk'], env],
    [['predict', clip, '--profile', 'calls'], env],
    [['evaluate', list, '--threshold', 'low-risk'], env],
    [['enroll', clip], { ...env, VERAVOX_MATCH_THRESHOLD: 'low-risk' }],
    [['calibrate', list, '--name', 'strict', '--target-fpr', '0.01'], env],
    [['profiles', 'make', 'calls', ...clips], env],
    [['profiles', 'list'], env],
    [['keys', 'create'], env],
    [['keys', 'list'], env],
    [['usage'], env],
    [['webhooks', 'secrets'], env],
    [['admin', 'users'], env],
    [['database', 'copy', '--dry-run'], copied],
    [['database', 'copy'], copied],
  ];
  for (const [args, settings] of commands) {
    const { status, stdout, stderr } = await runCli(args, settings);
    assert.equal(status, 1, `${args}: ${stdout}`);
    assert.match(stderr, /veravox\.db is of an earlier version: use the commands of that version\./);
  }
  const { stdout } = await runCli(['doctor'], env);
  assert.match(stdout, /the next start will update its tables/);
  assert.match(stdout, /operating points +not read: the next start will update the tables first/);
  assert.match(stdout, /API keys +not read: the next start will update the tables first/);
  const backup = path.join(folder, 'backup');
  const written = await runCli(['backup', backup], env);
  assert.equal(written.status, 0, written.stderr);
  for (const file of [database, path.join(backup, 'veravox.db')]) assert.equal(stepsDone(file), before);
});

test('a server continues with the data of 0.3.0: keys, usage, jobs, files, webhook secrets and audit', async (t) => {
  const folder = temporaryFolder(t);
  const { dataDir, expected } = dataOf030(folder);
  const models = path.join(folder, 'models');
  fs.mkdirSync(models);
  const env = {
    PORT: '0',
    VERAVOX_DATA_DIR: dataDir,
    VERAVOX_MODELS_DIR: writeTinyModels(models, 'even'),
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
