// SPDX-License-Identifier: Apache-2.0
//
// The next job and the next webhook are found by an index, however many wait, of one account or many.
import assert from 'node:assert/strict';
import { AwaitedUploads } from '../../src/jobs/queue/awaited-uploads.js';
import { BatchWorkTable } from '../../src/jobs/queue/batch-work-table.js';
import { DeliveryTable } from '../../src/jobs/queue/delivery-table.js';
import { DeliveryWorkTable } from '../../src/jobs/queue/delivery-work-table.js';
import { TooManyJobs } from '../../src/jobs/queue/job.js';
import { JobTable } from '../../src/jobs/queue/job-table.js';
import { JobWorkTable } from '../../src/jobs/queue/job-work-table.js';
import type { Database, Queries, Value } from '../../src/state/database/database.js';
import { onEachQueue } from '../support/job-queues.js';
import { newJob } from '../support/new-job.js';

const LONG = 20_000;

const numbers = {
  sqlite: (count: number) =>
    `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})`,
  postgres: (count: number) => `WITH n AS (SELECT generate_series(1, ${count}) AS i)`,
};

/** Jobs that wait, of one account, and that have ended, of another, with a batch of one line; and a webhook and an upload for each. */
async function fill(database: Database, count: number): Promise<void> {
  const { dialect } = database;
  await database.execute(
    'INSERT INTO jobs (id, account, key_id, task, state, source, parameters, request_hash, priority, created_at_ms) ' +
      `${numbers[dialect](count)} SELECT 'job-' || i, CASE WHEN i % 2 = 0 THEN 'busy' ELSE 'ended' END, 'k', 'predict', ` +
      "CASE WHEN i % 2 = 0 THEN 'queued' ELSE 'cancelled' END, '{}', '{}', '', -i, i FROM n",
  );
  await database.execute(
    'INSERT INTO jobs (id, account, key_id, task, state, source, parameters, request_hash, priority, created_at_ms, batch_id, line) ' +
      "VALUES ('batch', 'ended', 'k', 'batch', 'queued', '{}', '{}', '', 0, 0, NULL, NULL), " +
      "('line', 'ended', 'k', 'predict', 'waiting', '{}', '{}', '', 0, 0, 'batch', 1)",
  );
  await database.execute(
    'INSERT INTO webhook_deliveries (id, job_id, account, url, state, created_at_ms, due_at_ms) ' +
      "SELECT id, id, account, 'https://hooks.example/', CASE state WHEN 'queued' THEN 'waiting' ELSE 'delivered' END, " +
      'created_at_ms, created_at_ms FROM jobs',
  );
  await database.execute(
    'INSERT INTO awaited_uploads (home, name, account, key_id, asked_at_ms, until_ms, look_at_ms) ' +
      "SELECT 'here', id, account, 'k', 0, 0, created_at_ms FROM jobs",
  );
  await database.execute('ANALYZE');
}

/** The same database, which also tells what it is asked. */
function overheard(database: Database, hear: (sql: string, values: readonly Value[]) => void): Database {
  const queries = (of: Queries) => ({
    query: ((sql, values = []) => {
      hear(sql, values);
      return of.query(sql, values);
    }) as Queries['query'],
    execute: of.execute.bind(of),
  });
  const transaction: Database['transaction'] = (work, options) =>
    database.transaction((inner) => work({ ...inner, ...queries(inner) }), options);
  return { ...database, dialect: database.dialect, ...queries(database), transaction };
}

/** Asked by workers and senders, while the account has work in hand and before. */
const questions: Readonly<Record<string, (database: Database) => Promise<unknown>>> = {
  'the next job': (database) => new JobWorkTable(database, undefined, { home: 'here' }).take(),
  'the next job of others': (database) => new JobWorkTable(database).take(['busy', 'other']),
  'jobs of others': (database) => new JobWorkTable(database).waits(['busy', 'other']),
  'the next webhook': (database) => new DeliveryWorkTable(database).take(),
  'the next webhook of others': (database) => new DeliveryWorkTable(database).take(['busy', 'other']),
  'webhooks of dead senders': (database) => new DeliveryWorkTable(database).reap(),
  'jobs in a state that few have': (database) =>
    new JobTable(database, { maxUnfinished: 0 }).list('ended', { state: 'failed' }, 100),
  'the newest webhooks': (database) => new DeliveryTable(database).list({}, 1),
  'uploads to look for': (database) => new AwaitedUploads(database, 'here').due(10),
  'one more batch': (database) =>
    assert.rejects(
      new JobTable(database, { maxUnfinished: 0, maxBatches: 1 }).create({
        ...newJob,
        account: 'ended',
        task: 'batch',
      }),
      TooManyJobs,
    ),
  'a line to put into the queue': async (database) => {
    await database.execute("UPDATE jobs SET state = 'waiting' WHERE id = 'line'");
    await database.execute("UPDATE jobs SET state = 'queued', leased_until_ms = NULL WHERE id = 'batch'");
    const table = new BatchWorkTable(database);
    assert.equal((await table.feed((await table.take()) ?? assert.fail())).waiting, 1);
  },
};

type Ask = (database: Database) => Promise<unknown>;
type Statement = [sql: string, values: readonly Value[]];

async function statementsOf(database: Database, ask: Ask): Promise<Statement[]> {
  const asked: Statement[] = [];
  await ask(overheard(database, (...statement) => asked.push(statement)));
  assert.ok(asked.length > 0);
  return asked;
}

/** Blocks that PostgreSQL looks at. */
async function blocksRead(database: Database, ask: Ask): Promise<number> {
  let blocks = 0;
  for (const [sql, values] of await statementsOf(database, ask)) {
    const [row = assert.fail()] = await database.query(
      `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${sql}`,
      values,
    );
    const [{ Plan: plan }] = row['QUERY PLAN'] as unknown as [{ Plan: Record<string, number> }];
    blocks += (plan['Shared Hit Blocks'] ?? assert.fail()) + (plan['Shared Read Blocks'] ?? 0);
  }
  return blocks;
}

/** Tables of which SQLite reads all rows, and no index. */
async function scansOf(database: Database, ask: Ask): Promise<string[]> {
  const plans: string[] = [];
  for (const [sql, values] of await statementsOf(database, ask)) {
    // Explained, another statement would stay open.
    if (!sql.startsWith('SELECT')) continue;
    const rows = await database.query<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, values);
    plans.push(...rows.map(({ detail }) => detail));
  }
  return plans.filter((detail) => /^SCAN (?:jobs|webhook_deliveries|awaited_uploads)$/.test(detail));
}

/** Processor time: SQLite's is that of this process. */
async function leastUs(ask: () => Promise<unknown>): Promise<number> {
  let leastUs = Number.POSITIVE_INFINITY;
  for (let i = 0; i < 10; i++) {
    const begun = process.cpuUsage();
    await ask();
    const { user, system } = process.cpuUsage(begun);
    leastUs = Math.min(leastUs, user + system);
  }
  return leastUs;
}

onEachQueue('taking from a long queue costs no more than from a short one', async (open) => {
  const { database } = await open();
  const isSqlite = database.dialect === 'sqlite';
  const costOf = (ask: Ask): Promise<number> =>
    database.dialect === 'postgres' ? blocksRead(database, ask) : leastUs(() => ask(database));
  const costs = async () => {
    const found: Record<string, number> = {};
    for (const [what, ask] of Object.entries(questions)) found[what] = await costOf(ask);
    return found;
  };
  await fill(database, 50);
  const short = await costs();
  for (const table of ['jobs', 'awaited_uploads']) await database.execute(`DELETE FROM ${table}`);
  await fill(database, LONG);
  for (const [what, cost] of Object.entries(await costs())) {
    const least = short[what] ?? assert.fail();
    // The time of one question varies much on a busy machine.
    assert.ok(cost < 4 * least + (isSqlite ? 2000 : 20), `${what}: ${cost} instead of ${least}`);
  }
  if (!isSqlite) return;
  for (const [what, ask] of Object.entries(questions))
    assert.deepEqual(await scansOf(database, ask), [], what);
});
