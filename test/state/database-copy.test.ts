// SPDX-License-Identifier: Apache-2.0
//
// Copying from SQLite to PostgreSQL.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { AdminClient } from '../../client/src/index.js';
import { parseDatabaseAddress } from '../../src/base/config/database-address.js';
import { copyDatabase, countsToCopy } from '../../src/cli/copy-database.js';
import { DeliveryWorkTable } from '../../src/jobs/queue/delivery-work-table.js';
import { JobTable } from '../../src/jobs/queue/job-table.js';
import { JobWorkTable } from '../../src/jobs/queue/job-work-table.js';
import type { Database, Row } from '../../src/state/database/database.js';
import { openDatabase } from '../../src/state/database/open-database.js';
import { KeyTable } from '../../src/state/keys/key-table.js';
import { OperatingPointTable } from '../../src/state/operating-points/operating-point-table.js';
import { UsageTable } from '../../src/state/records/usage-table.js';
import { Cli, runCli } from '../support/cli.js';
import { sharedPostgres } from '../support/postgres.js';
import { sqliteIn } from '../support/stored-keys.js';
import { somePoint } from '../support/stored-points.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { writeTinyModels } from '../support/tiny-models.js';

const postgres = sharedPostgres();

async function settingsOf(t: TestContext) {
  const dataDir = temporaryFolder(t);
  const url = await (await postgres()).createDatabase();
  const source = sqliteIn(dataDir);
  return {
    source,
    target: { ...source, database: parseDatabaseAddress(url), databaseConnections: 3 },
    env: { VERAVOX_DATA_DIR: dataDir, VERAVOX_DATABASE_URL: url },
  };
}

async function opened<Result>(
  settings: Parameters<typeof openDatabase>[0],
  work: (database: Database) => Promise<Result>,
): Promise<Result> {
  const database = await openDatabase(settings);
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

const deliveryId = randomUUID();

/** All data that servers and commands write. */
async function fill(database: Database): Promise<void> {
  const keys = new KeyTable(database);
  const { key } = await keys.create({ name: 'ä "quoted"', scopes: ['predict'], account: 'acme' });
  await keys.create({
    name: 'limited',
    scopes: ['admin'],
    rate: { requests: 5, windowS: 60 },
    concurrency: 0,
  });
  await keys.revoke(key.id);
  const counts = { requests: 3, errors: 1, audioS: 12.345, windows: 4, bytes: 2 ** 40 };
  const row = { keyId: key.id, account: 'acme', route: '/v1/predict', ...counts };
  for (let i = 0; i < 250; i++) {
    await new UsageTable(database).add({ id: `batch ${i}`, day: '2026-11-21', rows: [row] });
  }
  await new OperatingPointTable(database).save(somePoint);
  const jobs = new JobTable(database, { maxUnfinished: 0 });
  for (let i = 0; i < 3; i++) {
    await jobs.create({
      account: 'acme',
      keyId: key.id,
      task: 'predict',
      source: JSON.stringify({ key: `recording ${i}` }),
      parameters: '{}',
    });
  }
  // The first is in work.
  const work = await new JobWorkTable(database, 60_000).take();
  await database.execute(
    `INSERT INTO webhook_deliveries (id, job_id, account, url, state, created_at_ms, due_at_ms, holder)
      VALUES ($1, $2, 'acme', 'https://client.example', 'sending', 1, 2, 'a sender')`,
    [deliveryId, work?.job.id ?? ''],
  );
}

/** Work in progress when the server ended waits again. */
const waiting = (row: Row): Row => {
  const state = { running: 'queued', sending: 'waiting' }[String(row.state)];
  return state === undefined ? row : { ...row, state, holder: null, leased_until_ms: null };
};

const contentsOf = async (database: Database, tables: readonly string[]): Promise<Row[][]> => {
  const contents: Row[][] = [];
  for (const table of [...tables, 'revisions']) {
    const rows = await database.query(`SELECT * FROM ${table}`);
    contents.push(rows.map(waiting).toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)));
  }
  return contents;
};

test('every row is in PostgreSQL afterwards, and unfinished jobs wait there; the file stays as it is', async (t) => {
  const { source, target, env } = await settingsOf(t);
  const before = await opened(source, async (database) => {
    await fill(database);
    const counts = await countsToCopy(database);
    assert.deepEqual(
      counts.filter(({ rows }) => rows > 0).map(({ table, rows }) => [table, rows]),
      [
        ['api_keys', 2],
        ['usage_counts', 1],
        ['usage_batches', 250],
        ['jobs', 3],
        ['webhook_deliveries', 1],
        ['operating_points', 1],
      ],
    );
    const tables = counts.map(({ table }) => table);
    return { tables, contents: await contentsOf(database, tables) };
  });
  const dry = await runCli(['database', 'copy', '--dry-run'], env);
  assert.equal(dry.status, 0, dry.stderr);
  assert.match(dry.stdout, /^usage_batches +250$/m);
  assert.match(dry.stderr, /Nothing was copied/);
  const schemas = await (await postgres()).run(
    target.database?.database ?? '',
    'SELECT nspname FROM pg_namespace',
  );
  assert.ok(!schemas.some(({ nspname }) => nspname === 'veravox'), 'a dry run makes no tables');

  const { status, stdout, stderr } = await runCli(['database', 'copy'], env);
  assert.equal(status, 0, stderr);
  assert.equal(stdout, dry.stdout);
  assert.match(stderr, /Copied, and the counts agree/);
  await opened(target, async (database) => {
    assert.deepEqual(await contentsOf(database, before.tables), before.contents);
    assert.equal((await new DeliveryWorkTable(database).take())?.delivery.id, deliveryId);
    const workTable = new JobWorkTable(database);
    const taken: string[] = [];
    for (let work = await workTable.take(); work !== undefined; work = await workTable.take())
      taken.push(work.job.id);
    const ids = await database.query<{ id: string }>(
      'SELECT id FROM jobs ORDER BY priority DESC, created_at_ms',
    );
    assert.deepEqual(
      taken,
      ids.map(({ id }) => id),
    );
  });
  await opened(source, async (database) => {
    assert.deepEqual(await contentsOf(database, before.tables), before.contents);
  });
  for (const args of [
    ['database', 'copy'],
    ['database', 'copy', '--dry-run'],
  ]) {
    const again = await runCli(args, env);
    assert.equal(again.status, 1);
    assert.match(
      again.stderr,
      /is not empty \(api_keys: 2, .*Copy into a database that no server has used yet/,
    );
  }
});

test('a copy that fails in the middle leaves nothing behind', async (t) => {
  const { source, target } = await settingsOf(t);
  await opened(source, (from) =>
    opened(target, async (to) => {
      await fill(from);
      const tables = (await countsToCopy(from)).map(({ table }) => table);
      const empty = await contentsOf(to, tables);
      // After most tables.
      await to.execute('ALTER TABLE operating_points ADD CONSTRAINT no_points CHECK (FALSE)');
      await assert.rejects(copyDatabase(from, to), /no_points/);
      assert.deepEqual(await contentsOf(to, tables), empty);
    }),
  );
});

test('a server is not overtaken: while one uses the data folder, nothing is copied, and it tells of what is left behind', async (t) => {
  const { source, target, env } = await settingsOf(t);
  await opened(source, (database) => new KeyTable(database).create({ name: 'kept', scopes: ['predict'] }));
  const counts = { requests: 7, errors: 0, audioS: 0.1, windows: 3, bytes: 1000 };
  const rows = [{ keyId: 'key-1', account: 'one', route: '/v1/predict', ...counts }];
  fs.mkdirSync(path.join(source.dataDir, 'unsent-usage'));
  fs.writeFileSync(
    path.join(source.dataDir, 'unsent-usage/2026-11-21.x.json'),
    JSON.stringify({ version: 1, rows }),
  );
  const models = writeTinyModels(fs.mkdtempSync(path.join(source.dataDir, 'models-')), 'even');
  const cli = new Cli(['serve'], {
    ...env,
    PORT: '0',
    VERAVOX_MODELS_DIR: models,
  });
  t.after(() => cli.child.kill('SIGKILL'));
  await cli.printed(/is ready on/);
  assert.match(cli.stdout, /"level":"warn".*veravox\.db has API keys, but .* veravox database copy/);
  // So that the copy remains possible.
  assert.doesNotMatch(cli.stdout, /An API key was created/);
  const [, origin = ''] = await cli.printed(/is ready on (http:\S+)\n/);
  const signedIn = new AdminClient({ baseUrl: origin }).signIn({ name: 'nobody', password: 'a password' });
  await assert.rejects(signedIn, { status: 401 });
  const refused = await runCli(['database', 'copy'], env);
  assert.equal(refused.status, 1);
  assert.match(refused.stderr, /is in use by another server/);
  cli.child.kill('SIGTERM');
  assert.equal((await cli.finished).status, 0);
  const copied = await runCli(['database', 'copy'], env);
  assert.equal(copied.status, 0, copied.stderr);
  await opened(target, async (database) => {
    assert.equal((await new KeyTable(database).list()).length, 1);
    assert.equal((await new UsageTable(database).read({}))[0]?.requests, 7);
  });
});

test('without a PostgreSQL database, or without a file, it says what is missing', async (t) => {
  const { env } = await settingsOf(t);
  const nothing = await runCli(['database', 'copy'], env);
  assert.deepEqual(
    [nothing.status, /There is no .*veravox\.db: nothing to copy/.test(nothing.stderr)],
    [1, true],
  );
  const nowhere = await runCli(['database', 'copy'], { VERAVOX_DATA_DIR: env.VERAVOX_DATA_DIR });
  assert.deepEqual([nowhere.status, /Set VERAVOX_DATABASE_URL/.test(nowhere.stderr)], [1, true]);
});
