// SPDX-License-Identifier: Apache-2.0
//
// Places in the queue, against a count of all jobs for each of them.
import assert from 'node:assert/strict';
import type { Job } from '../../src/jobs/queue/job.js';
import { JobTable } from '../../src/jobs/queue/job-table.js';
import type { Database } from '../../src/state/database/database.js';
import { onEachQueue } from '../support/job-queues.js';

interface Queued {
  readonly id: string;
  readonly task: 'predict' | 'batch';
  readonly state: 'queued' | 'running';
  readonly priority: number;
  readonly createdAtMs: number;
  readonly home: string | null;
}

const HOMES = [null, null, 'folder-1', 'folder-2'];

/** With ties of priority and time. */
const someJobs = (count: number): Queued[] =>
  Array.from({ length: count }, (_, i) => ({
    id: `job-${i}`,
    task: i % 11 === 5 ? 'batch' : 'predict',
    state: i % 7 === 3 ? 'running' : 'queued',
    priority: i % 11 === 5 ? 0 : -1 - ((i * 7919) % 13),
    createdAtMs: (i * 104_729) % 17,
    home: HOMES[(i * 31) % HOMES.length] ?? null,
  }));

async function insert(database: Database, jobs: readonly Queued[]): Promise<void> {
  await database.transaction(async (transaction) => {
    for (const { id, task, state, priority, createdAtMs, home } of jobs) {
      await transaction.execute(
        `INSERT INTO jobs (id, account, key_id, task, state, source, parameters, request_hash, priority, created_at_ms, home)
          VALUES ($1, 'a', 'k', $2, $3, '{}', '{}', '', $4, $5, $6)`,
        [id, task, state, priority, createdAtMs, home],
      );
    }
  });
}

function placesOf(jobs: readonly Queued[]): Map<string, number> {
  const queued = jobs.filter(({ state }) => state === 'queued');
  const counted = queued.filter(({ task }) => task !== 'batch');
  const isBefore = (one: Queued, other: Queued): boolean =>
    (one.home === null || other.home === null || one.home === other.home) &&
    (one.priority > other.priority ||
      (one.priority === other.priority && one.createdAtMs < other.createdAtMs));
  const before = (job: Queued): number =>
    job.task === 'batch' ? 0 : counted.filter((other) => isBefore(other, job)).length;
  return new Map(queued.map((job) => [job.id, before(job)]));
}

const asJobs = (jobs: readonly Queued[]): Job[] =>
  jobs.map((job): Partial<Job> => job as Partial<Job>) as Job[];

onEachQueue('each queued job has its place among those that its hosts can take', async (open) => {
  const { jobs, database } = await open();
  const all = someJobs(200);
  await insert(database, all);
  assert.deepEqual(
    new Map([...(await jobs.positions(asJobs(all)))].sort()),
    new Map([...placesOf(all)].sort()),
  );
});

onEachQueue('lists and followers read no results, which may have megabytes', async (open) => {
  const { database } = await open();
  let heard = '';
  const listening = new Proxy(database, {
    get(target, name) {
      const found: unknown = Reflect.get(target, name);
      if (name !== 'query') return typeof found === 'function' ? found.bind(target) : found;
      return async (...question: Parameters<typeof target.query>) => {
        heard += question[0];
        return target.query(...question);
      };
    },
  });
  const jobs = new JobTable(listening, { maxUnfinished: 0 });
  await jobs.list('a', {}, 100);
  await jobs.find(['a']);
  assert.doesNotMatch(heard, /\bresult\b/);
  await jobs.get('a', 'a');
  assert.match(heard, /\bresult\b/);
});

onEachQueue(
  'however many clients ask, the queue is ranked, and a batch counted, once at a time',
  async (open) => {
    const { database } = await open();
    const all = someJobs(50);
    await insert(database, all);
    let asking = 0;
    let asked = 0;
    const heard = new Proxy(database, {
      get(target, name) {
        const found: unknown = Reflect.get(target, name);
        if (name !== 'query') return typeof found === 'function' ? found.bind(target) : found;
        return async (...question: Parameters<typeof target.query>) => {
          assert.equal(++asking, 1);
          asked++;
          return target.query(...question).finally(() => {
            asking--;
          });
        };
      },
    });
    const jobs = new JobTable(heard, { maxUnfinished: 0 });
    const queued = asJobs(all).filter(({ state, task }) => state === 'queued' && task !== 'batch');
    const places = placesOf(all);
    const answers = await Promise.all(queued.map((job) => jobs.positions([job])));
    assert.deepEqual(
      answers.map((answer) => [...answer]),
      queued.map(({ id }) => [[id, places.get(id)]]),
    );
    await Promise.all(Array.from({ length: 20 }, () => jobs.countLines('job-5')));
    assert.ok(asked <= 4, `${asked} questions`);
  },
);

onEachQueue('places of many jobs in a long queue take little more work than that of one', async (open) => {
  const { jobs, database } = await open();
  // The work of another process is invisible here.
  if (database.dialect !== 'sqlite') return;
  const all = someJobs(3000).map((job) => ({ ...job, task: 'predict', state: 'queued' }) as const);
  await insert(database, all);
  const costOf = async (asked: readonly Queued[]): Promise<number> => {
    let leastUs = Number.POSITIVE_INFINITY;
    for (let i = 0; i < 3; i++) {
      const begun = process.cpuUsage();
      await jobs.positions(asJobs(asked));
      const { user, system } = process.cpuUsage(begun);
      leastUs = Math.min(leastUs, user + system);
    }
    return leastUs;
  };
  const one = await costOf(all.slice(0, 1));
  const many = await costOf(all.slice(0, 200));
  assert.ok(many < 10 * one, `${many} µs instead of ${one} µs`);
});
