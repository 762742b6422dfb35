// SPDX-License-Identifier: Apache-2.0
//
// The removal of one account's finished jobs, however many, lets everybody else use the database.
import assert from 'node:assert/strict';
import { FinishedJobs } from '../../src/jobs/queue/finished-jobs.js';
import { JobTable } from '../../src/jobs/queue/job-table.js';
import type { Database, Value } from '../../src/state/database/database.js';
import { createBatch } from '../support/batches.js';
import { onEachQueue } from '../support/job-queues.js';
import { newJob } from '../support/new-job.js';

const JOBS = 5000;
const DAY = '2026-01-02';
const ENDED_MS = Date.parse(`${DAY}T12:00:00Z`);

const add = (database: Database, task: string, batchId: string | null): Promise<number> =>
  database.execute(
    `INSERT INTO jobs (id, account, key_id, task, source, parameters, priority, created_at_ms, request_hash, state, finished_at_ms, ` +
      'batch_id, line) ' +
      `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${task === 'batch' ? 1 : JOBS}) ` +
      `SELECT '${task}' || n, 'a', 'k', '${task === 'batch' ? 'batch' : 'predict'}', '{}', '{}', 0, 0, '', 'cancelled', ` +
      `CAST($1 AS BIGINT), CAST($2 AS TEXT), ${batchId === null ? 'NULL' : 'n'} FROM numbers`,
    [ENDED_MS, batchId],
  );

const many: Readonly<Record<string, (database: Database) => Promise<unknown>>> = {
  'jobs of a day': (database) => add(database, 'predict', null),
  'lines of a cancelled batch': async (database) => {
    await add(database, 'batch', null);
    await add(database, 'line', 'batch1');
  },
};

for (const [what, fill] of Object.entries(many)) {
  onEachQueue(`${JOBS} ${what} are removed in parts`, async (open) => {
    const { database, jobs } = await open();
    await fill(database);
    const { job } = await jobs.create(newJob);
    const removed: number[] = [];
    const counted = {
      query: database.query.bind(database),
      execute: async (sql: string, values: readonly Value[]) => {
        const rows = await database.execute(sql, values);
        removed.push(rows);
        return rows;
      },
    } as unknown as Database;
    await new FinishedJobs(counted).removeDays([DAY]);
    assert.ok(removed.length >= JOBS / 1000 && removed.every((rows) => rows <= 1000), `${removed}`);
    const left = await database.query('SELECT id FROM jobs');
    assert.deepEqual(left, [{ id: job.id }]);
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
