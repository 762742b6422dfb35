// SPDX-License-Identifier: Apache-2.0
//
// The removal of one account's finished jobs, however many, lets everybody else use the database.
import assert from 'node:assert/strict';
import { FinishedJobs } from '../../src/jobs/queue/finished-jobs.js';
import type { Database, Value } from '../../src/state/database/database.js';
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
