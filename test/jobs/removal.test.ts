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

/** Jobs of one account, the last of which ended first, and all of them long ago. @returns their ids */
async function endedLongAgo({ jobs, workTable, database }: JobParts, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let i = 0; i < count; i++) {
    const { job } = await jobs.create(newJob);
    const work = (await workTable.take()) ?? assert.fail();
    await workTable.fail(work, { code: 'FILE_EMPTY', message: 'It is empty.' }, false);
    await database.execute('UPDATE jobs SET finished_at_ms = $2 WHERE id = $1', [job.id, count - i]);
    ids.push(job.id);
  }
  return ids;
}

const idsIn = async (database: Database, condition: string): Promise<unknown[]> =>
  (await database.query(`SELECT id FROM jobs WHERE ${condition} ORDER BY id`)).map(({ id }) => id);

onEachQueue(
  'of an account with more finished jobs than are kept, those that ended first go',
  async (open) => {
    const parts = await open();
    const { database, jobs, batchWorkTable } = parts;
    const [third, second, first] = await endedLongAgo(parts, 3);
    const { job: ofOther } = await jobs.create({ ...newJob, account: 'b' });
    await jobs.cancel('b', ofOther.id);
    const { job: recent } = await jobs.create(newJob);
    await jobs.cancel('a', recent.id);
    // Lines that have ended belong to an unfinished job.
    const batch = await createBatch(parts, 'a', '');
    const work = (await batchWorkTable.take()) ?? assert.fail();
    const line = { label: '{}', work: { failure: { code: 'FILE_EMPTY', message: 'It is empty.' } } };
    await batchWorkTable.addLines(work, 1, [line, line, line]);
    const keep = async (maxKept: number): Promise<void> => {
      const limited = new JobTable(database, { maxUnfinished: 0, maxKept });
      await jobs.cancel('a', (await limited.create(newJob)).job.id);
    };
    const left = () => idsIn(database, `finished_at_ms < 10 OR id IN ('${recent.id}', '${ofOther.id}')`);
    await keep(4);
    assert.deepEqual(
      await left(),
      [first, second, third, recent.id, ofOther.id].toSorted(),
      'no more than are kept',
    );
    await keep(3);
    assert.deepEqual(await left(), [third, recent.id, ofOther.id].toSorted());
    await keep(1);
    assert.deepEqual(await left(), [recent.id, ofOther.id].toSorted(), 'what has just ended stays');
    assert.equal((await jobs.countLines(batch)).lines, 3);
  },
);

onEachQueue('a batch that is beyond those kept goes with its lines, in pieces', async (open) => {
  const { database } = await open();
  await add(database, 'batch', null);
  await add(database, 'line', 'batch1');
  await database.execute("UPDATE jobs SET finished_at_ms = 1 WHERE id = 'batch1'");
  await add(database, 'predict', null);
  await database.execute("DELETE FROM jobs WHERE task = 'predict' AND batch_id IS NULL AND id <> 'predict1'");
  const { database: counting, changed } = countedDatabase(database);
  await new FinishedJobs(counting).keepNewest('a', 1);
  assert.equal(Math.max(...changed), ROWS_AT_ONCE);
  assert.deepEqual(await idsIn(database, '1 = 1'), ['predict1']);
});

onEachQueue('a job that is retried while old ones are removed stays, and so do others', async (open) => {
  const parts = await open();
  const { database, jobs } = parts;
  const [newest, older, , retried = ''] = await endedLongAgo(parts, 4);
  const interrupted = new Proxy(database, {
    get(target, name) {
      if (name === 'execute') {
        return async (...change: Parameters<Database['execute']>) => {
          await jobs.retry({ account: 'a', id: retried });
          // Another caller removes the same ones at the same time.
          await new FinishedJobs(target).keepNewest('a', 2);
          return target.execute(...change);
        };
      }
      const found: unknown = Reflect.get(target, name);
      return typeof found === 'function' ? found.bind(target) : found;
    },
  });
  await new FinishedJobs(interrupted).keepNewest('a', 2);
  assert.deepEqual(await idsIn(database, '1 = 1'), [newest, older, retried].toSorted());
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
