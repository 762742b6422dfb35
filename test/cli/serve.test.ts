// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { createServer } from 'node:net';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { loadManifest } from '../../src/analysis/models/model-file.js';
import { scoreFingerprintOf } from '../../src/analysis/models/score-fingerprint.js';
import type { OperatingPoint } from '../../src/state/operating-points/operating-point.js';
import { Cli, runCli, temporaryFolder } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { startSilentPostgres } from '../support/silent-peers.js';
import { savePoint } from '../support/stored-points.js';
import { writeTinyModels } from '../support/tiny-models.js';

const runShell = promisify(execFile);

function serve(context: TestContext, env: Readonly<Record<string, string>>): Cli {
  const cli = new Cli(['serve'], { PORT: '0', ...env });
  context.after(() => cli.child.kill('SIGKILL'));
  return cli;
}

const tinyServer = (context: TestContext) => ({
  VERAVOX_DATA_DIR: temporaryFolder(context),
  VERAVOX_MODELS_DIR: writeTinyModels(temporaryFolder(context), 'even'),
});

test('a setting that cannot be used stops the start', async (context) => {
  const env = { VERAVOX_DATA_DIR: temporaryFolder(context), PORT: 'http' };
  const { status, stderr } = await runCli(['serve'], env);
  assert.equal(status, 1);
  assert.equal(stderr, 'veravox: Expected an integer from 0 to 65535 for PORT but received http.\n');
});

test('a setting that there is no longer is named in the log of the start, which goes on', async (context) => {
  const cli = serve(context, { ...tinyServer(context), VERAVOX_AUDIT_SYNC: 'each' });
  await cli.printed(/is ready on/);
  assert.match(
    cli.stdout,
    /"level":"warn".*"variable":"VERAVOX_AUDIT_SYNC","msg":"unknown setting, ignored"/,
  );
});

test('operating points of the data folder serve requests; one of other weights is warned of', async (context) => {
  const env = tinyServer(context);
  const [detector] = (await loadManifest(env.VERAVOX_MODELS_DIR)).models;
  assert.ok(detector);
  const point: OperatingPoint = {
    name: 'everything',
    model: detector.id,
    model_sha256: detector.sha256,
    fingerprint: scoreFingerprintOf(detector),
    threshold: 0,
    target: { rate: 'fnr', value: 0 },
    measured: { fpr: null, fnr: null },
    list: 'calls.csv',
    where: [],
    silence_threshold: 80,
    created_at: '2026-11-21T12:00:00.000Z',
  };
  await savePoint(env.VERAVOX_DATA_DIR, point);
  const other = { model_sha256: '0'.repeat(64), fingerprint: '0'.repeat(64) };
  await savePoint(env.VERAVOX_DATA_DIR, { ...point, name: 'old', ...other });
  const cli = serve(context, env);
  const [, curl = ''] = await cli.printed(/^ {2}(curl .*)$/m);
  assert.match(
    cli.stdout + cli.stderr,
    /"operatingPoint":"old","model":"apollo-4-5-2026-03-26","why":"was calibrated with other weights/,
  );
  const ask = async (name: string) => {
    const { stdout } = await runShell('/bin/sh', ['-c', `${curl} -s -F threshold=${name}`]);
    return JSON.parse(stdout);
  };
  const { global } = await ask('everything');
  assert.deepEqual([global.result, global.confidence], ['spoofed', global.score]);
  assert.match(
    (await ask('old')).message,
    /\(everything\) for threshold but received "old", which was calibrated/,
  );
});

test('a port that is taken stops the start; the next one still shows its first key', async (context) => {
  const taken = createServer().listen(0, '127.0.0.1');
  context.after(() => taken.close());
  await new Promise((resolve) => taken.once('listening', resolve));
  const { port } = taken.address() as { port: number };
  const env = tinyServer(context);
  const { status, stderr } = await runCli(['serve'], { ...env, PORT: String(port) });
  assert.equal(status, 1);
  assert.match(stderr, new RegExp(`^veravox: .*${port}`));
  const cli = serve(context, env);
  await cli.printed(/^ {2}vx_\S+$/m);
  const { stdout } = await runCli(['keys', 'list', '--json'], env);
  assert.equal(stdout.trimEnd().split('\n').length, 1, stdout);
});

test('a second signal ends a stop that takes long, with exit code 1', async (context) => {
  const cli = serve(context, { ...tinyServer(context), VERAVOX_STOP_GRACE_MS: '600000' });
  await cli.printed(/is ready on/);
  // Signals are repeated because two at once count as one, as when npm and a terminal both forward one
  // Ctrl-C.
  const repeat = setInterval(() => cli.child.kill('SIGTERM'), 100);
  context.after(() => clearInterval(repeat));
  assert.equal((await cli.finished).status, 1);
});

// As the only process of a container.
const runner = ['unshare', '--pid', '--fork', '--kill-child'];
const skip =
  spawnSync(runner[0] ?? '', [...runner.slice(1), 'true']).status !== 0 && 'unshare is not permitted';

test('a container that starts, or runs another command, ends at the first signal', {
  skip,
}, async (context) => {
  const peer = await startSilentPostgres(context, 'silent');
  const env = {
    VERAVOX_DATA_DIR: temporaryFolder(context),
    VERAVOX_DATABASE_URL: `postgres://a:b@127.0.0.1:${peer.port}/c`,
    VERAVOX_STORAGE_BUCKET: 'veravox',
    VERAVOX_STORAGE_ENDPOINT: 'http://127.0.0.1:1',
    AWS_ACCESS_KEY_ID: 'a',
    AWS_SECRET_ACCESS_KEY: 'b',
  };
  for (const [command, settings, signal, status] of [
    ['serve', {}, 'SIGTERM', 143],
    ['serve', { VERAVOX_PROCESSES: '1' }, 'SIGTERM', 143],
    ['work', {}, 'SIGINT', 130],
    ['keys list', {}, 'SIGINT', 130],
  ] as const) {
    const held = peer.held();
    const cli = new Cli(command.split(' '), { ...env, ...settings }, { runner });
    context.after(() => cli.child.kill('SIGKILL'));
    await eventually(() => peer.held() > held, 'it waits for the database');
    const parent = cli.child.pid;
    const children = fs.readFileSync(`/proc/${parent}/task/${parent}/children`, 'utf8');
    process.kill(Number(children), signal);
    assert.equal((await cli.finished).status, status, command);
  }
});

test('the first start prints a curl line that works; a stop is clean; the second start keeps the key', async (context) => {
  const env = { VERAVOX_DATA_DIR: temporaryFolder(context) };
  const first = serve(context, env);
  const [, curl = ''] = await first.printed(/^ {2}(curl .*)$/m);
  const { stdout } = await runShell('sh', [
    '-c',
    `${curl} --silent --show-error --write-out ' %{http_code}'`,
  ]);
  const [, body = '', status] = /^(.*) (\d+)$/s.exec(stdout) ?? [];
  assert.equal(status, '200', stdout);
  assert.match(JSON.parse(body).global.result, /^(bonafide|spoofed)$/);

  first.child.kill('SIGTERM');
  const stopped = await first.finished;
  assert.equal(stopped.status, 0);
  assert.equal(stopped.stderr, '');

  const second = serve(context, env);
  const [, address] = await second.printed(/is ready on (\S+)/);
  assert.ok(!second.stdout.includes('vx_'));
  const again = curl.replace(/http:\/\/[^/]+/, address ?? '');
  const repeated = await runShell('sh', [
    '-c',
    `${again} --silent --output /dev/null --write-out '%{http_code}'`,
  ]);
  assert.equal(repeated.stdout, '200');
  second.child.kill('SIGINT');
  assert.equal((await second.finished).status, 0);
});
