// SPDX-License-Identifier: Apache-2.0
//
// `veravox backup` and `veravox restore`: of a server under load, everything from before the backup is as it was in another
// place, and everything from during the backup is there whole or not at all.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { VeravoxClient } from '../../client/src/client.js';
import { packageDir } from '../../src/base/config/package-dir.js';
import { Cli, type Finished, runCli, temporaryFolder } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { createKey } from '../support/stored-keys.js';
import { writeTinyModels } from '../support/tiny-models.js';

const makeDatabase = (dataDir: string) =>
  createKey(dataDir, { name: 'any', account: 'any', scopes: ['predict'] });

test('a backup never replaces anything, and a restore fills empty data folders only', async (t) => {
  const folder = temporaryFolder(t);
  const env = { VERAVOX_DATA_DIR: path.join(folder, 'data') };
  const there = path.join(folder, 'there');
  fs.mkdirSync(there);
  await makeDatabase(env.VERAVOX_DATA_DIR);
  for (const [target, said] of [
    [there, /there exists already/],
    [path.join(folder, 'nowhere', 'backup'), /no such file or folder/],
    [path.join(folder, 'data', 'backup'), /is in the data folder/],
  ] as const) {
    const refused = await runCli(['backup', target], env);
    assert.equal(refused.status, 1);
    assert.match(refused.stderr, said);
  }
  assert.deepEqual(fs.readdirSync(folder).sort(), ['data', 'there']);

  const backup = path.join(folder, 'backup');
  assert.equal((await runCli(['backup', backup], env)).status, 0);
  const restore = (from: string, to: string): Promise<Finished> =>
    runCli(['restore', from], { VERAVOX_DATA_DIR: path.join(folder, to) });
  for (const [from, to, said] of [
    [there, 'new', /is no backup: it has no backup\.json/],
    [path.join(folder, 'nowhere'), 'new', /no such file or folder/],
    [backup, 'data', /is not empty: it has /],
  ] as const) {
    const refused = await restore(from, to);
    assert.equal(refused.status, 1, refused.stdout);
    assert.match(refused.stderr, said);
  }
  fs.writeFileSync(path.join(backup, 'more'), '');
  assert.match((await restore(backup, 'new')).stderr, /it is incomplete/);
});

test('an interrupted restore is told apart: no server and no command uses its folder', async (t) => {
  const folder = temporaryFolder(t);
  const env = { VERAVOX_DATA_DIR: path.join(folder, 'data') };
  await makeDatabase(env.VERAVOX_DATA_DIR);
  fs.writeFileSync(path.join(folder, 'data/days.json'), '{}');
  const backup = path.join(folder, 'backup');
  assert.equal((await runCli(['backup', backup], env)).status, 0);
  const database = path.join(backup, 'veravox.db');
  fs.renameSync(database, `${database}.whole`);
  // Nobody writes into it, so the restore hangs at its last file.
  assert.equal(spawnSync('mkfifo', [database]).status, 0);
  const half = { VERAVOX_DATA_DIR: path.join(folder, 'half') };
  const restore = new Cli(['restore', backup], half);
  const restored = path.join(half.VERAVOX_DATA_DIR, 'days.json');
  await eventually(() => fs.existsSync(restored), 'the other files are there');
  restore.child.kill('SIGKILL');
  await restore.finished;
  for (const args of [
    ['serve', '--port', '0'],
    ['keys', 'create'],
    ['keys', 'list'],
    ['usage'],
    ['backup', path.join(folder, 'of-half')],
    ['restore', backup],
  ]) {
    const { status, stderr, stdout } = await runCli(args, half);
    assert.equal(status, 1, `${args}: ${stdout}${stderr}`);
    assert.match(
      stderr,
      /half has only a part of the backup \S+backup\. .*empty the folder and restore again/,
    );
  }
  // No models to check.
  const doctor = await runCli(['doctor'], { ...half, VERAVOX_MODELS_DIR: folder });
  assert.match(doctor.stdout, /half has only a part of the backup/);
  assert.ok(!fs.existsSync(path.join(half.VERAVOX_DATA_DIR, 'veravox.db')));

  fs.renameSync(`${database}.whole`, database);
  fs.rmSync(half.VERAVOX_DATA_DIR, { recursive: true });
  assert.equal((await runCli(['restore', backup], half)).status, 0);
  assert.equal((await runCli(['keys', 'list'], half)).status, 0);
  assert.deepEqual(
    fs.readdirSync(half.VERAVOX_DATA_DIR).filter((name) => name.includes('restore')),
    [],
  );
});

test('a backup follows links, and names everything that it leaves out', async (t) => {
  const folder = temporaryFolder(t);
  const dataDir = path.join(folder, 'data');
  const env = { VERAVOX_DATA_DIR: dataDir };
  await makeDatabase(env.VERAVOX_DATA_DIR);
  const disk = path.join(folder, 'large-disk');
  fs.mkdirSync(path.join(disk, 'aa'), { recursive: true });
  fs.writeFileSync(path.join(disk, 'aa/one'), 'object');
  fs.symlinkSync(disk, path.join(dataDir, 'objects'));
  const elsewhere = path.join(folder, 'elsewhere');
  fs.mkdirSync(elsewhere);
  fs.writeFileSync(path.join(elsewhere, 'two'), 'another');
  fs.symlinkSync(elsewhere, path.join(disk, 'bb'));
  fs.writeFileSync(path.join(folder, 'secret'), '{}');
  fs.symlinkSync('../secret', path.join(dataDir, 'storage.json'));
  const odd = ['broken', 'itself', 'back', 'pipe'].map((name) => path.join(disk, name));
  const [broken = '', itself = '', back = '', pipe = ''] = odd;
  fs.symlinkSync('nowhere', broken);
  fs.symlinkSync('itself', itself);
  fs.symlinkSync(disk, back);
  assert.equal(spawnSync('mkfifo', [pipe]).status, 0);
  // Two that lead to each other.
  fs.symlinkSync(disk, path.join(elsewhere, 'round'));

  const backup = path.join(folder, 'backup');
  const { status, stderr } = await runCli(['backup', backup], env);
  assert.equal(status, 0, stderr);
  const leftOut = [...stderr.matchAll(/^Left out: (\S+) is neither/gm)].map(([, name]) => name);
  const inData = (name: string): string => path.join(dataDir, 'objects', name);
  assert.deepEqual(leftOut.sort(), ['broken', 'itself', 'back', 'pipe', 'bb/round'].map(inData).sort());
  const copy = path.join(folder, 'copy');
  const restored = await runCli(['restore', backup], { VERAVOX_DATA_DIR: copy });
  assert.equal(restored.status, 0, restored.stderr);
  for (const [name, content] of [
    ['objects/aa/one', 'object'],
    ['objects/bb/two', 'another'],
    ['storage.json', '{}'],
  ] as const) {
    const file = path.join(copy, name);
    assert.ok(!fs.lstatSync(file).isSymbolicLink());
    assert.equal(fs.readFileSync(file, 'utf8'), content);
  }
});

test('a data folder may be a file system of its own, with `lost+found`', async (t) => {
  const folder = temporaryFolder(t);
  const withLost = (name: string): string => {
    const dataDir = path.join(folder, name);
    fs.mkdirSync(dataDir);
    // Tests under root can read it all the same.
    fs.mkdirSync(path.join(dataDir, 'lost+found'), { mode: 0 });
    return dataDir;
  };
  const dataDir = withLost('data');
  await runCli(['keys', 'create'], { VERAVOX_DATA_DIR: dataDir });
  const backup = path.join(folder, 'backup');
  const written = await runCli(['backup', backup], { VERAVOX_DATA_DIR: dataDir });
  assert.equal(written.status, 0, written.stderr);
  assert.deepEqual(fs.readdirSync(backup).sort(), ['audit', 'backup.json', 'veravox.db']);
  const restored = await runCli(['restore', backup], { VERAVOX_DATA_DIR: withLost('copy') });
  assert.equal(restored.status, 0, restored.stderr);
});

test('a restored file is as old as it was', async (t) => {
  const folder = temporaryFolder(t);
  const inFolder = (name: string): string => path.join(folder, name, 'objects/aa/one');
  const stored = new Date('2026-01-02T03:04:05Z');
  fs.mkdirSync(path.dirname(inFolder('data')), { recursive: true });
  fs.writeFileSync(inFolder('data'), 'object');
  fs.utimesSync(inFolder('data'), stored, stored);
  const backup = path.join(folder, 'backup');
  const run = (command: string, dataDir: string): Promise<Finished> =>
    runCli([command, backup], { VERAVOX_DATA_DIR: path.join(folder, dataDir) });
  assert.equal((await run('backup', 'data')).status, 0);
  assert.equal((await run('restore', 'copy')).status, 0);
  for (const name of ['backup', 'copy'])
    assert.equal(fs.statSync(inFolder(name)).mtime.toISOString(), stored.toISOString(), name);
});

test('with PostgreSQL, even while it is away, a backup has the files and says that the dump is missing', async (t) => {
  const folder = temporaryFolder(t);
  const env = {
    VERAVOX_DATA_DIR: path.join(folder, 'data'),
    VERAVOX_DATABASE_URL: 'postgres://nobody:secret@127.0.0.1:1/none',
  };
  const backup = path.join(folder, 'backup');
  fs.mkdirSync(path.join(folder, 'data/objects'), { recursive: true });
  fs.writeFileSync(path.join(folder, 'data/objects/one'), 'object');
  const { status, stderr } = await runCli(['backup', backup], env);
  assert.equal(status, 0, stderr);
  assert.match(stderr, /run pg_dump before this command/);
  assert.deepEqual(fs.readdirSync(backup).sort(), ['backup.json', 'objects']);
  const bare = path.join(folder, 'bare');
  assert.equal((await runCli(['backup', bare, '--without-files'], env)).status, 0);
  assert.deepEqual(fs.readdirSync(bare), ['backup.json']);
});

interface Running {
  readonly cli: Cli;
  readonly origin: string;
}

async function serve(t: TestContext, env: Record<string, string>): Promise<Running> {
  const cli = new Cli(['serve'], { ...env, PORT: '0' });
  t.after(async () => {
    cli.child.kill('SIGKILL');
    await cli.finished;
  });
  const [, origin = ''] = await cli.printed(/is ready on (http:\S+)\n/);
  return { cli, origin };
}

async function makeKey(env: Record<string, string>, name: string, account: string): Promise<string> {
  return (await runCli(['keys', 'create', '--name', name, '--account', account], env)).stdout.trim();
}

/** A file that proves by its name that it is whole. */
function someFile(i: number): { key: string; content: Buffer } {
  const content = Buffer.alloc(200_000 + i, `${i} `);
  return { key: `${createHash('sha256').update(content).digest('hex')}.bin`, content };
}

async function store(client: VeravoxClient, key: string, content: Uint8Array): Promise<void> {
  const [link] = (await client.createUploadLinks([key])).url;
  assert.ok(link);
  await client.upload(link, content);
}

async function contentsOf(client: VeravoxClient): Promise<Map<string, string>> {
  const { url } = await client.getDownloadLinks('');
  const found = new Map<string, string>();
  for (const { key, value } of url) {
    const bytes = Buffer.from(await (await fetch(value)).arrayBuffer());
    found.set(key, createHash('sha256').update(bytes).digest('hex'));
  }
  return found;
}

interface UsageRow {
  readonly route: string;
  readonly requests: number;
}

async function usageOf(env: Record<string, string>, account: string): Promise<UsageRow[]> {
  const { stdout } = await runCli(['usage', '--account', account, '--json'], env);
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as UsageRow);
}

test('a server restored from a backup under load is as it was', async (t) => {
  const folder = temporaryFolder(t);
  const clip = fs.readFileSync(path.join(packageDir, 'test/fixtures/human-lj-a.flac'));
  const models = path.join(folder, 'models');
  fs.mkdirSync(models);
  writeTinyModels(models, 'even');
  const common = { VERAVOX_MODELS_DIR: models, VERAVOX_ANALYSE_UPLOADS: 'off' };
  const env = { ...common, VERAVOX_DATA_DIR: path.join(folder, 'data') };
  const { cli, origin } = await serve(t, env);
  const quietKey = await makeKey(env, 'quiet', 'quiet');
  const busyKey = await makeKey(env, 'busy', 'busy');
  const quiet = new VeravoxClient({ baseUrl: origin, apiKey: quietKey });
  const busy = new VeravoxClient({ baseUrl: origin, apiKey: busyKey });

  await store(quiet, 'call.flac', clip);
  for (let i = 0; i < 3; i++) await store(quiet, someFile(i).key, someFile(i).content);
  const { id } = await quiet.createJob({ key: 'call.flac' });
  const job = await quiet.waitForJob(id, { pollMs: 20 });
  assert.equal(job.state, 'succeeded');
  const contents = await contentsOf(quiet);
  assert.equal(contents.size, 4);
  // Four uploads and the last request of this account.
  const counted = { '/v1/file': 5, job: 1 };
  let usage: UsageRow[] = [];
  await eventually(async () => {
    usage = await usageOf(env, 'quiet');
    return Object.entries(counted).every(([route, requests]) =>
      usage.some((row) => row.route === route && row.requests === requests),
    );
  }, 'usage is in the database');

  let isLoaded = true;
  let stored = 0;
  const load = Array.from({ length: 3 }, async (_, worker) => {
    for (let i = 0; isLoaded; i++) {
      const { key, content } = someFile(worker * 10_000 + i);
      await store(busy, key, content);
      await busy.createJob({ key });
      if (i % 3 === 2) await busy.deleteFiles([key]);
      stored++;
    }
  });
  await eventually(() => stored > 5, 'load');
  const backup = path.join(folder, 'backup');
  const storedBefore = stored;
  const made = await runCli(['backup', backup], env);
  assert.equal(made.status, 0, made.stderr);
  assert.ok(stored > storedBefore, 'the server went on');
  isLoaded = false;
  await Promise.all(load);
  const lateKey = await makeKey(env, 'late', 'late');
  cli.child.kill('SIGKILL');
  await cli.finished;
  for (const name of fs.readdirSync(backup, { recursive: true, encoding: 'utf8' })) {
    const { mode } = fs.statSync(path.join(backup, name));
    assert.equal(mode & 0o077, 0, name);
  }

  const elsewhere = { ...common, VERAVOX_DATA_DIR: path.join(folder, 'elsewhere') };
  const restored = await runCli(['restore', backup], elsewhere);
  assert.equal(restored.status, 0, restored.stderr);
  assert.deepEqual(await usageOf(elsewhere, 'quiet'), usage);
  const audit = await runCli(['audit', 'verify'], elsewhere);
  assert.equal(audit.status, 0, audit.stdout + audit.stderr);
  const next = await serve(t, elsewhere);
  const clientOf = (apiKey: string) => new VeravoxClient({ baseUrl: next.origin, apiKey });
  assert.deepEqual(await clientOf(quietKey).getJob(id), job);
  assert.deepEqual(await contentsOf(clientOf(quietKey)), contents);
  const ofLoad = await contentsOf(clientOf(busyKey));
  assert.ok(ofLoad.size > 0);
  for (const [key, sha256] of ofLoad) assert.equal(key, `analysis/${sha256}.bin`);
  await assert.rejects(clientOf(lateKey).getJob(id), { status: 401 });
  const secrets = (dir: string): string => fs.readFileSync(path.join(folder, dir, 'storage.json'), 'utf8');
  assert.equal(secrets('elsewhere'), secrets('data'));
});
