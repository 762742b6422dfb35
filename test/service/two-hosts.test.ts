// SPDX-License-Identifier: Apache-2.0
//
// Two servers with data folders of their own, as on two hosts, on one PostgreSQL database.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { VeravoxClient } from '../../client/src/client.js';
import { loadManifest } from '../../src/analysis/models/model-file.js';
import { scoreFingerprintOf } from '../../src/analysis/models/score-fingerprint.js';
import { parseDatabaseAddress } from '../../src/base/config/database-address.js';
import { packageDir } from '../../src/base/config/package-dir.js';
import { withDatabase } from '../../src/state/database/open-database.js';
import { OperatingPointTable } from '../../src/state/operating-points/operating-point-table.js';
import { Cli, type Finished, runCli } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { fileEntry, formBody } from '../support/form-body.js';
import { predict, request } from '../support/http-client.js';
import { type PostgresServer, startPostgres } from '../support/postgres.js';
import { sqliteIn } from '../support/stored-keys.js';
import { somePoint } from '../support/stored-points.js';
import { writeTinyModels } from '../support/tiny-models.js';
import { undisturbedTime } from '../support/undisturbed.js';

let postgres: PostgresServer;
let folder: string;
let env: Record<string, string>;
const hosts: { cli: Cli; port: number }[] = [];

const envOf = (host: string): Record<string, string> => ({
  ...env,
  VERAVOX_DATA_DIR: path.join(folder, host),
});

const command = (...args: string[]): Promise<Finished> => runCli(args, envOf('third'));

const statusOn = async (port: number, key: string): Promise<number> =>
  (await request(port, '/v1/file?key_prefix=&entity=analysis', { headers: { 'x-api-key': key } })).status;

before(async () => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'veravox-hosts-'));
  postgres = await startPostgres();
  env = {
    PORT: '0',
    VERAVOX_DATABASE_URL: await postgres.createDatabase(),
    VERAVOX_MODELS_DIR: writeTinyModels(fs.mkdtempSync(path.join(folder, 'models-')), 'even'),
  };
  const started = ['first', 'second'].map(async (host) => {
    // One of them with several processes.
    const processes = host === 'second' ? { VERAVOX_PROCESSES: '2' } : undefined;
    const cli = new Cli(['serve'], { ...envOf(host), ...processes });
    const [, port] = await cli.printed(/is ready on \S+:(\d+)\n/);
    return { cli, port: Number(port) };
  });
  hosts.push(...(await Promise.all(started)));
});

after(async () => {
  for (const { cli } of hosts) cli.child.kill('SIGKILL');
  await postgres.remove();
  fs.rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
});

test('of two hosts that start on an empty database, one shows the first key, and both accept it', async () => {
  const { stdout } = await command('keys', 'list', '--json');
  assert.equal(stdout.trimEnd().split('\n').length, 1, stdout);
  const keys = hosts.flatMap(({ cli }) => /^ {2}(vx_\S+)$/m.exec(cli.stdout)?.[1] ?? []);
  assert.equal(keys.length, 1);
  for (const { port } of hosts) assert.equal(await statusOn(port, keys[0] ?? ''), 200);
});

/** Makes and revokes keys on a third host. @returns the least milliseconds until both hosts refused one */
async function revokedAfterMs(): Promise<number> {
  const timesMs: number[] = [];
  // Other work on the machine can delay an answer, never speed it up.
  while (timesMs.length < 3 && !timesMs.some((ms) => ms < 1000)) {
    const key = (await command('keys', 'create')).stdout.trimEnd();
    for (const { port } of hosts) assert.equal(await statusOn(port, key), 200);
    assert.equal((await command('keys', 'revoke', key.slice(3, 15))).status, 0);
    const took = undisturbedTime();
    for (const { port } of hosts) {
      await eventually(async () => (await statusOn(port, key)) === 401, 'it is refused');
    }
    timesMs.push(took());
  }
  return Math.min(...timesMs);
}

test('a key made on a third host works on both at once, and revoked there it works nowhere within a second', async () => {
  assert.ok((await revokedAfterMs()) < 1000);
});

/**
 * The number of these requests that both hosts together accept, eight at a time. @param hostOf which host gets the
 * i-th
 */
async function acceptedOf(key: string, count: number, hostOf: (i: number) => number): Promise<number> {
  let accepted = 0;
  for (let i = 0; i < count; i += 8) {
    const group = Array.from({ length: 8 }, (_, j) => statusOn(hosts[hostOf(i + j)]?.port ?? 0, key));
    for (const status of await Promise.all(group)) {
      assert.ok([200, 429].includes(status), `${status}`);
      accepted += Number(status === 200);
    }
  }
  return accepted;
}

test('a rate limit holds over both hosts within 5 %, however requests are spread', async () => {
  const limit = 160;
  for (const hostOf of [() => 0, (i: number) => i % 2, (i: number) => Number(i % 10 !== 0)]) {
    const key = (await command('keys', 'create', '--rate', `${limit}/10m`)).stdout.trimEnd();
    const accepted = await acceptedOf(key, 240, hostOf);
    assert.ok(Math.abs(accepted - limit) <= limit * 0.05, `${accepted} of ${limit}, spread by ${hostOf}`);
  }
});

test('an operating point that a third host saves serves requests on both within a second', async () => {
  const [model] = (await loadManifest(env.VERAVOX_MODELS_DIR ?? '')).models;
  assert.ok(model);
  const key = (await command('keys', 'create')).stdout.trimEnd();
  const body = (threshold: string) =>
    formBody([fileEntry('no audio'), { name: 'threshold', content: threshold }]);
  const isKnownOn = async (port: number, name: string): Promise<boolean> => {
    const answer = await predict(port, body(name), { headers: { 'x-api-key': key } });
    return !/operating point/.test(answer.text);
  };
  const settings = { ...sqliteIn(folder), database: parseDatabaseAddress(env.VERAVOX_DATABASE_URL ?? '') };
  const timesMs: number[] = [];
  while (timesMs.length < 3 && !timesMs.some((ms) => ms < 1000)) {
    const name = `p${timesMs.length}`;
    for (const { port } of hosts) assert.equal(await isKnownOn(port, name), false);
    const identity = { model: model.id, model_sha256: model.sha256, fingerprint: scoreFingerprintOf(model) };
    await withDatabase(settings, (database) =>
      new OperatingPointTable(database).save({ ...somePoint, ...identity, name }),
    );
    const took = undisturbedTime();
    for (const { port } of hosts) await eventually(() => isKnownOn(port, name), 'it is known');
    timesMs.push(took());
  }
  assert.ok(Math.min(...timesMs) < 1000, `${timesMs} ms`);
});

test('without the database known keys go on, and operators see it; afterwards everything goes on', async () => {
  const key = (await command('keys', 'create', '--scopes', 'admin')).stdout.trimEnd();
  const headers = { 'x-api-key': key };
  const limited = (await command('keys', 'create', '--rate', '20/10m')).stdout.trimEnd();
  for (const { port } of hosts) assert.equal(await statusOn(port, key), 200);
  for (const { port } of hosts) assert.equal(await statusOn(port, limited), 200);
  const database = async (port: number): Promise<unknown> =>
    (await request(port, '/readyz', { headers })).json.database;
  await postgres.stop();
  for (const { port } of hosts) {
    await eventually(async () => (await database(port)) === 'unavailable', 'it is noticed');
    assert.equal((await request(port, '/readyz')).status, 200);
    assert.match((await request(port, '/metrics')).text, /^veravox_database_up 0$/m);
    assert.equal(await statusOn(port, key), 200);
    assert.equal(await statusOn(port, `vx_${'0'.repeat(12)}_${'A'.repeat(43)}`), 503);
  }
  // Each host alone grants the whole limit.
  for (const host of [0, 1]) {
    const accepted = await acceptedOf(limited, 32, () => host);
    assert.ok(accepted >= 16 && accepted <= 20, `${accepted}`);
  }
  const refused = await command('keys', 'list');
  assert.equal(refused.status, 1);
  assert.match(refused.stderr, /^veravox: The database postgres:.*ENOENT/);
  await postgres.start();
  const later = (await command('keys', 'create')).stdout.trimEnd();
  for (const { port } of hosts) {
    assert.equal(await statusOn(port, later), 200);
    await eventually(async () => (await database(port)) === 'up', 'it is noticed');
    // Together they have used more than the limit.
    await eventually(async () => (await statusOn(port, limited)) === 429, 'the limit holds');
  }
  assert.ok((await revokedAfterMs()) < 1000);
});

test('a server does not start without the database, and says which one', async () => {
  const nobody = { VERAVOX_DATABASE_URL: 'postgres://someone:geheim@127.0.0.1:1/database' };
  const { status, stdout, stderr } = await runCli(['serve'], { ...envOf('fourth'), ...nobody });
  assert.equal(status, 1);
  assert.match(stderr, /^veravox: The database postgres:\/\/127\.0\.0\.1:1\/database: .*ECONNREFUSED/);
  assert.doesNotMatch(stdout + stderr, /geheim/);
});

test('each host works on the files in its own data folder, and on no others', async () => {
  const key = (await command('keys', 'create')).stdout.trimEnd();
  const clip = fs.readFileSync(path.join(packageDir, 'test/fixtures/human-lj-a.flac'));
  const ended = hosts.map(async ({ port }, host) => {
    const client = new VeravoxClient({ baseUrl: `http://127.0.0.1:${port}`, apiKey: key });
    const { url } = await client.createUploadLinks([`of-${host}.flac`]);
    assert.ok(url[0]);
    await client.upload(url[0], clip);
    const [link] = (await client.getDownloadLinks(`of-${host}.flac`)).url;
    assert.ok(link);
    const { id } = await client.createBatch({ lines: `key\nof-${host}.flac\n` });
    const inputs = Array.from({ length: 6 }, (_, i) =>
      i % 2 === 0 ? { key: `of-${host}.flac` } : { presignedUrl: link.value },
    );
    const jobs = await Promise.all(inputs.map((input) => client.createJob(input)));
    const done = await Promise.all([id, ...jobs.map((job) => job.id)].map((job) => client.waitForJob(job)));
    const [batch, ...others] = done;
    assert.equal(batch?.batch?.succeeded, 1, JSON.stringify(batch));
    return others.map(({ state, attempts, error }) => ({ state, attempts, error }));
  });
  const expected = { state: 'succeeded', attempts: 1, error: null };
  for (const jobs of await Promise.all(ended)) assert.deepEqual(jobs, Array(6).fill(expected));
});
