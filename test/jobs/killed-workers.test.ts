// SPDX-License-Identifier: Apache-2.0
//
// Workers on several hosts are killed at work, and the database restarts in between: each job ends once, with the result of an
// undisturbed run, and counts once. `npm run bench jobs` does the same with 1,000 jobs and whole servers.
import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Job, ListedJob } from '../../src/jobs/queue/job.js';
import { JobTable } from '../../src/jobs/queue/job-table.js';
import { isUnavailable } from '../../src/state/database/database.js';
import { migrate } from '../../src/state/database/migrate.js';
import { migrations } from '../../src/state/database/migrations/migrations.js';
import { UsageTable } from '../../src/state/records/usage-table.js';
import { postgresAt } from '../support/databases.js';
import { eventually } from '../support/eventually.js';
import { startPostgres } from '../support/postgres.js';

const program = fileURLToPath(new URL('../support/job-host.js', import.meta.url));
const JOBS = 20;
const HOSTS = 3;
/** Fewer than the attempts of a job. */
const KILLS = 4;

test('killed workers and a restarted database cost no job, and no result twice', async (t) => {
  const postgres = await startPostgres();
  t.after(() => postgres.remove());
  const url = await postgres.createDatabase();
  const database = postgresAt(url);
  await migrate(database, migrations);
  t.after(() => database.close());
  const jobs = new JobTable(database, { maxUnfinished: 0 });
  const create = (bytes: number, name: string): Promise<{ job: Job }> =>
    jobs.create({
      account: 'a',
      keyId: 'key_a',
      task: 'predict',
      source: JSON.stringify({ object: String(bytes) }),
      parameters: JSON.stringify({ model: 'm', threshold: 0.5, silenceThresholdPercent: 80 }),
      idempotencyKey: name,
    });
  const finished = async (): Promise<readonly ListedJob[]> => {
    try {
      return (await jobs.list('a', {}, 100)).jobs.filter(({ finishedAtMs }) => finishedAtMs !== undefined);
    } catch (error) {
      if (isUnavailable(error)) return [];
      throw error;
    }
  };
  const hosts: ChildProcess[] = [];
  const start = async (i: number): Promise<void> => {
    const host = fork(program, [url], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    hosts[i] = host;
    await once(host, 'message');
  };
  t.after(() => {
    for (const host of hosts) host.kill('SIGKILL');
  });
  await Promise.all(Array.from({ length: HOSTS }, (_, i) => start(i)));

  const verdictOf = ({ state, failure, result = 'null' }: Job): unknown => {
    const { prediction_id: _, processing_time: __, ...verdict } = JSON.parse(result) ?? {};
    return { state, failure, verdict };
  };
  const ids: string[] = [];
  for (let i = 0; i < JOBS; i++) ids.push((await create(i + 1, `undisturbed ${i}`)).job.id);
  await eventually(async () => (await finished()).length === JOBS, 'all are done');
  const verdicts = async (from: number): Promise<unknown[]> => {
    const found: unknown[] = [];
    for (const id of ids.slice(from, from + JOBS)) {
      found.push(verdictOf((await jobs.get('a', id)) ?? assert.fail(id)));
    }
    return found;
  };
  const expected = await verdicts(0);

  for (let i = 0; i < JOBS; i++) ids.push((await create(i + 1, `disturbed ${i}`)).job.id);
  for (let kill = 0; kill < KILLS; kill++) {
    const before = (await finished()).length;
    await eventually(async () => {
      const done = (await finished()).length;
      return done > before || done === 2 * JOBS;
    }, 'work goes on');
    const i = kill % HOSTS;
    const ended = once(hosts[i] as ChildProcess, 'close');
    hosts[i]?.kill('SIGKILL');
    await ended;
    await start(i);
    if (kill !== 1) continue;
    await postgres.stop();
    await postgres.start();
  }
  await eventually(async () => (await finished()).length === 2 * JOBS, 'all are done');
  assert.deepEqual(await verdicts(JOBS), expected);
  assert.ok(
    (await finished()).some(({ attempts }) => attempts > 1),
    'a job was begun again',
  );
  const [usage, ...others] = await new UsageTable(database).read();
  assert.deepEqual([usage?.route, usage?.requests, usage?.errors, others.length], ['job', 2 * JOBS, 0, 0]);
  assert.deepEqual(await database.query('SELECT * FROM job_steps'), []);
});
