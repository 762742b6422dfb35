// SPDX-License-Identifier: Apache-2.0
//
// The removal of one account's jobs, and the end of its batches, however large, let everybody else use the database.
import assert from 'node:assert/strict';
import { BatchWorkTable } from '../../src/jobs/queue/batch-work-table.js';
import { FinishedJobs } from '../../src/jobs/queue/finished-jobs.js';
import { JobTable } from '../../src/jobs/queue/job-table.js';
import type { Database } from '../../src/state/database/database.js';
import { ROWS_AT_ONCE } from '../../src/state/database/pieces.js';
import { createBatch } from '../support/batches.js';
import { countedDatabase } from '../support/counted-database.js';
import { eventually } from '../support/eventually.js';
import { type JobParts, onEachQueue } from '../support/job-queues.js';
import { newJob } from '../support/new-job.js';

const JOBS = 5000;
const DAY = '2026-01-02';
const ENDED_MS = Date.parse(`${DAY}T12:00:00Z`);

const add = (
  database: Database,
  task: string,
  batchId: string | null,
  state = 'cancelled',
): Promise<number> =>
  database.execute(
    `INSERT INTO jobs (id, account, key_id, task, source, parameters, priority, created_at_ms, request_hash, state, finished_at_ms, ` +
      'batch_id, line) ' +
      `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${task === 'batch' ? 1 : JOBS}) ` +
      `SELECT '${task}' || n, 'a', 'k', '${task === 'batch' ? 'batch' : 'predict'}', '{}', '{}', 0, 0, '', '${state}', ` +
      `CAST($1 AS BIGINT), CAST($2 AS TEXT), ${batchId === null ? 'NULL' : 'n'} FROM numbers`,
    [state === 'cancelled' ? ENDED_MS : null, batchId],
  );

const many: Readonly<Record<string, (database: Database) => Promise<unknown>>> = {
  'jobs of a day': (database) => add(database, 'predict', null),
  'lines of a cancelled batch': async (database) => {
    await add(database, 'batch', null);
    await add(database, 'line', 'batch1');
  },
};

for (const [what, fill] of Object.entries(many)) {
  onEachQueue(`${JOBS} ${what} are removed in pieces`, async (open) => {
    const { database, jobs } = await open();
    await fill(database);
    const { job } = await jobs.create(newJob);
    const { database: counting, changed } = countedDatabase(database);
    const finished = new FinishedJobs(counting);
    assert.deepEqual(await finished.days(), [DAY]);
    await finished.removeDays([DAY]);
    assert.equal(Math.max(...changed), ROWS_AT_ONCE);
    const left = await database.query('SELECT id FROM jobs');
    assert.deepEqual(left, [{ id: job.id }]);
    assert.deepEqual(await finished.days(), []);
  });
}

onEachQueue('of an account with more jobs than are kept, the oldest that are over go', async (open) => {
  const parts = await open();
  const { database, jobs, batchWorkTable } = parts;
  const make = async (account: string): Promise<string> => (await jobs.create({ ...newJob, account })).job.id;
  const ids = [await make('a'), await make('a'), await make('a'), await make('a')];
  const [oldest = '', queued = '', third = '', fourth = ''] = ids;
  const batch = await createBatch(parts, 'a', '');
  const work = (await batchWorkTable.take()) ?? assert.fail();
  const line = { label: '{}', work: { failure: { code: 'FILE_EMPTY', message: 'It is empty.' } } };
  await batchWorkTable.addLines(work, 1, [line, line, line]);
  const ofOther = await make('b');
  for (const id of [oldest, batch, third, fourth]) await jobs.cancel('a', id);
  await jobs.cancel('b', ofOther);
  for (const [i, id] of [queued, oldest, batch, third, fourth].entries())
    await database.execute('UPDATE jobs SET created_at_ms = $2 WHERE id = $1', [id, i]);

  const limited = new JobTable(database, { maxUnfinished: 0, maxKept: 8 });
  const { job } = await limited.create({ ...newJob, account: 'a' });
  assert.equal((await jobs.find(ids)).length, 4, 'no more than are kept');
  // Five too many, of which three are lines.
  const tighter = new JobTable(database, { maxUnfinished: 0, maxKept: 4 });
  const { job: last } = await tighter.create({ ...newJob, account: 'a' });
  const left = await database.query('SELECT id FROM jobs ORDER BY id');
  assert.deepEqual(
    left.map(({ id }) => id),
    [queued, third, fourth, job.id, last.id, ofOther].toSorted(),
  );
  // Each is counted once in a while, and with each batch.
  const strict = new JobTable(database, { maxUnfinished: 0, maxKept: 1 });
  await createBatch({ ...parts, jobs: strict }, 'a', '');
  assert.equal((await jobs.find([queued, third, fourth])).length, 1);
});

onEachQueue('a cancelled batch leaves no manifest', async (open) => {
  const parts = await open();
  const batch = await createBatch(parts, 'a', 'key\nfile-1\n');
  const manifests = () => parts.database.query('SELECT job_id FROM batch_manifests');
  assert.deepEqual(await manifests(), [{ job_id: batch }]);
  await parts.jobs.cancel('a', batch);
  assert.deepEqual(await manifests(), []);
});

/** A batch of many lines, some of which are in the queue and one in work. */
async function largeBatch({ jobs, database, batchWorkTable, workTable }: JobParts) {
  const id = await createBatch({ jobs } as JobParts, 'a', '{"key":"secret"}');
  const batch = (await batchWorkTable.take()) ?? assert.fail();
  await add(database, 'line', id, 'waiting');
  await database.execute("UPDATE jobs SET state = 'succeeded' WHERE batch_id = $1 AND line <= 7", [id]);
  assert.equal((await batchWorkTable.feed(batch)).waiting, JOBS - 7);
  return { id, batch, line: (await workTable.take()) ?? assert.fail() };
}

type LargeBatch = Awaited<ReturnType<typeof largeBatch>>;

const ends: Readonly<Record<string, (jobs: JobTable, table: BatchWorkTable, batch: LargeBatch) => unknown>> =
  {
    cancelled: (jobs, _, { id }) => jobs.cancel('a', id),
    failed: (_, table, { batch }) => table.fail(batch, { code: 'INTERNAL', message: 'It broke.' }, false),
  };

for (const [state, end] of Object.entries(ends)) {
  onEachQueue(
    `a batch of ${JOBS} lines that is ${state} ends at once, and is removed in pieces`,
    async (open) => {
      const jobParts = await open({ home: 'here' });
      const { database, jobs, workTable } = jobParts;
      const large = await largeBatch(jobParts);
      const { database: counting, changed } = countedDatabase(database);
      const batchWorkTable = new BatchWorkTable(counting, undefined, 'here');
      await end(new JobTable(counting, { maxUnfinished: 0 }), batchWorkTable, large);
      assert.ok(
        changed.every((rows) => rows <= 100),
        `${changed}`,
      );
      const counts = { lines: JOBS, succeeded: 7, failed: JOBS - 7, result_key: null };
      const ofClient = async (): Promise<unknown> => {
        const job = await jobs.get('a', large.id);
        return [job?.state, JSON.parse(job?.result ?? 'null')];
      };
      assert.deepEqual(await ofClient(), [state, counts]);
      assert.equal(await workTable.take(), undefined, 'no line is begun');
      await assert.rejects(workTable.renew(large.line, 0), /in other hands/);
      await assert.rejects(batchWorkTable.feed(large.batch), /in other hands/);
      assert.deepEqual(await database.query('SELECT job_id FROM batch_manifests'), [], 'it may hold secrets');
      await batchWorkTable.tidy();
      assert.equal(Math.max(...changed), ROWS_AT_ONCE);
      assert.deepEqual(await database.query('SELECT id FROM jobs WHERE batch_id IS NOT NULL'), []);
      assert.deepEqual(await ofClient(), [state, counts]);
    },
  );
}

onEachQueue('lines stay as long as their batch has not ended, and its counts for ever', async (open) => {
  const { database, jobs, batchWorkTable } = await open({ home: 'here' });
  await add(database, 'batch', null);
  await add(database, 'line', 'batch1');
  const unfinished = await createBatch({ jobs } as JobParts, 'a', '{"key":"a"}');
  await database.execute("UPDATE jobs SET batch_id = $1 WHERE id IN ('line1', 'line2')", [unfinished]);
  await database.execute("UPDATE jobs SET state = 'succeeded' WHERE id = 'line3'");
  await eventually(async () => {
    await batchWorkTable.tidy();
    return (await database.query("SELECT id FROM jobs WHERE batch_id = 'batch1'")).length === 0;
  }, 'lines of the ended one are removed');
  assert.equal((await jobs.countLines(unfinished)).lines, 2);
  const ended = await jobs.get('a', 'batch1');
  // It was cancelled by a version that kept its lines.
  assert.deepEqual(JSON.parse(ended?.result ?? 'null'), {
    lines: JOBS - 2,
    succeeded: 1,
    failed: JOBS - 3,
    result_key: null,
  });
});
