// SPDX-License-Identifier: Apache-2.0
//
// A large file, sent through a link of `POST /file`, is analysed automatically, and its result is fetched through `GET /file`:
// with curl alone, on a server with default settings, and on one with PostgreSQL and a bucket.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { loadAddon } from '../../src/base/addon/addon.js';
import { packageDir } from '../../src/base/config/package-dir.js';
import { Cli, runCli, temporaryFolder } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { type PostgresServer, startPostgres } from '../support/postgres.js';
import { startSwift } from '../support/storages.js';
import { longMonoWav } from '../support/wav.js';

const run = promisify(execFile);
/** Size from which files are analysed automatically. */
const LARGE_BYTES = 100_000_000;
const KEY = 'calls/day 1.wav';

let folder: string;
let recording: string;
/** Result of another program: the command, which reads the file itself. */
let expected: { global: object; segments: readonly object[] };

before(async () => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'veravox-flow-'));
  recording = path.join(folder, 'day 1.wav');
  const { samples } = loadAddon().decode(
    fs.readFileSync(path.join(packageDir, 'test/fixtures/human-lj-a.flac')),
  );
  // At twelve times the rate, to become large sooner.
  const upsampled = Float32Array.from(
    { length: samples.length * 12 },
    (_, i) => samples[Math.trunc(i / 12)] ?? 0,
  );
  fs.writeFileSync(recording, longMonoWav(upsampled, 192_000, LARGE_BYTES));
  const { stdout, stderr, status } = await runCli(['predict', '--json', recording]);
  assert.equal(status, 0, stderr);
  expected = JSON.parse(stdout);
});

after(() => fs.rmSync(folder, { recursive: true, force: true }));

async function curl(...args: readonly string[]): Promise<string> {
  const { stdout } = await run('curl', ['--silent', '--show-error', '--fail-with-body', ...args]);
  return stdout;
}

async function follow(t: TestContext, settings: Readonly<Record<string, string>>): Promise<void> {
  const server = new Cli(['serve'], { PORT: '0', VERAVOX_DATA_DIR: temporaryFolder(t), ...settings });
  t.after(async () => {
    server.child.kill('SIGTERM');
    await server.finished;
  });
  const [, origin = ''] = await server.printed(/is ready on (http:\S+)\n/);
  const [, apiKey = ''] = await server.printed(/^ {2}(vx_\S+)$/m);
  const key = ['--header', `x-api-key: ${apiKey}`];

  const upload = JSON.parse(
    await curl(...key, '--json', JSON.stringify({ keys: [KEY], entity: 'analysis' }), `${origin}/v1/file`),
  );
  assert.equal(upload.url[0].key, `analysis/${KEY}`);
  await curl('--upload-file', recording, upload.url[0].value);
  const query = `key_prefix=${encodeURIComponent(KEY)}&entity=results`;
  let link = '';
  await eventually(async () => {
    const { url } = JSON.parse(await curl(...key, `${origin}/v1/file?${query}`));
    link = url[0]?.value ?? '';
    return link !== '';
  }, 'there is a result');
  const result = JSON.parse(await curl(link));
  assert.deepEqual(result.global, expected.global);
  assert.deepEqual(result.segments, expected.segments);
  assert.ok(result.segments.length > 40);

  // The job that did it, once.
  const { jobs } = JSON.parse(await curl(...key, `${origin}/v1/jobs`));
  assert.equal(jobs.length, 1);
  await eventually(async () => {
    const job = JSON.parse(await curl(...key, `${origin}/v1/jobs/${jobs[0].id}`));
    return job.state === 'succeeded' && job.attempts === 1;
  }, 'it has ended');
}

test('a server without any settings', (t) => follow(t, {}));

test('PostgreSQL and a bucket', async (t) => {
  const postgres: PostgresServer = await startPostgres();
  t.after(() => postgres.remove());
  await follow(t, {
    VERAVOX_DATABASE_URL: await postgres.createDatabase(),
    VERAVOX_STORAGE_BUCKET: 'veravox',
    VERAVOX_STORAGE_ENDPOINT: await startSwift(t),
    AWS_ACCESS_KEY_ID: 'test:tester',
    AWS_SECRET_ACCESS_KEY: 'testing',
  });
});
