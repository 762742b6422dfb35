// SPDX-License-Identifier: Apache-2.0
//
// The promises of the job queue to clients and workers, with SQLite and with PostgreSQL.
import assert from 'node:assert/strict';
import { FinishedJobs } from '../../src/jobs/queue/finished-jobs.js';
import {
  IdempotencyConflict,
  type NewJob,
  TooManyJobs,
  type Work,
  WorkLost,
} from '../../src/jobs/queue/job.js';
import type { JobWorkTable } from '../../src/jobs/queue/job-work-table.js';
import { UsageTable } from '../../src/state/records/usage-table.js';
import { eventually } from '../support/eventually.js';
import { onEachQueue } from '../support/job-queues.js';

const newJob = (more: Partial<NewJob> = {}): NewJob => ({
  account: 'a',
  keyId: 'key_a',
  task: 'predict',
  source: '{"link":"https://storage.example/secret"}',
  parameters: '{"model":"m"}',
  ...more,
});

async function taken(workTable: JobWorkTable): Promise<Work> {
  return (await workTable.take()) ?? assert.fail('there is a job');
}

const error = { code: 'FETCH_FAILED', message: 'The storage does not answer.' };

onEachQueue('a worker that lost its job saves nothing any more', async (open) => {
  const { jobs, workTable } = await open();
  const { job } = await jobs.create(newJob());
  const work = await taken(workTable);
  await jobs.cancel('a', job.id);
  const step = { results: '[]', cursor: '{}', audioS: 60 };
  await assert.rejects(workTable.renew(work, 0.5), WorkLost);
  await assert.rejects(workTable.saveStep(work, 0, step), WorkLost);
  await assert.rejects(workTable.succeed(work, { result: '{}', audioS: 1 }), WorkLost);
  await assert.rejects(workTable.fail(work, error, true), WorkLost);
  await assert.rejects(workTable.giveBack(work), WorkLost);
  const after = await jobs.get('a', job.id);
  assert.deepEqual([after?.state, after?.result, after?.failure], ['cancelled', undefined, undefined]);
  assert.equal(await workTable.take(), undefined);
});

onEachQueue(
  'a job of a dead worker goes on after its last step, and the dead one is refused',
  async (open) => {
    const { jobs, workTable } = await open({ leaseMs: 1 });
    const { job } = await jobs.create(newJob());
    const first = await taken(workTable);
    await workTable.saveStep(first, 0, { results: '["one"]', cursor: '{"at":60}', audioS: 60 });
    await eventually(async () => (await workTable.reap()).taken === 1, 'the lease ends');
    assert.equal((await workTable.reap()).taken, 0, 'once');
    await assert.rejects(
      workTable.saveStep(first, 1, { results: '["late"]', cursor: '{"at":120}', audioS: 120 }),
      WorkLost,
    );
    assert.equal((await jobs.get('a', job.id))?.failure?.code, 'WORKER_DIED');
    // After the pause before its second attempt.
    let second: Work | undefined;
    await eventually(async () => {
      second = await workTable.take();
      return second !== undefined;
    }, 'the job is due again');
    assert.ok(second);
    assert.deepEqual([second.job.attempts, second.cursor, second.savedSteps], [2, '{"at":60}', 1]);
    await workTable.saveStep(second, 1, { results: '["two"]', cursor: '{"at":120}', audioS: 120 });
    const saved: string[] = [];
    for await (const results of workTable.savedResults(job.id)) saved.push(results);
    assert.deepEqual(saved, ['["one"]', '["two"]']);
  },
);

onEachQueue(
  'a job that cannot succeed fails at once, with its reason, and its link is forgotten',
  async (open) => {
    const { jobs, workTable } = await open();
    const { job } = await jobs.create(newJob());
    assert.equal(await workTable.fail(await taken(workTable), error, false), false);
    const failed = await jobs.get('a', job.id);
    assert.deepEqual([failed?.state, failed?.failure, failed?.source], ['failed', error, '{}']);
    assert.equal(await workTable.take(), undefined);
  },
);

onEachQueue(
  'the same idempotency key gives the same job once, and another request with it is refused',
  async (open) => {
    const [one, other] = [await open(), await open()];
    const job = newJob({ idempotencyKey: 'k' });
    const created = await Promise.all(
      Array.from({ length: 10 }, (_, i) => (i % 2 === 0 ? one : other).jobs.create(job)),
    );
    assert.equal(new Set(created.map((answer) => answer.job.id)).size, 1);
    assert.equal(created.filter(({ isNew }) => isNew).length, 1);
    await assert.rejects(one.jobs.create({ ...job, task: 'enroll' }), IdempotencyConflict);
    const ofOther = await one.jobs.create({ ...job, account: 'b' });
    assert.ok(ofOther.isNew, 'keys of accounts are their own');
    // Even after the link was forgotten.
    await one.jobs.cancel('a', created[0]?.job.id ?? '');
    assert.equal((await one.jobs.create(job)).isNew, false);
  },
);

onEachQueue('an account has a limited number of unfinished jobs', async (open) => {
  const { jobs, workTable } = await open({ maxUnfinished: 2 });
  await jobs.create(newJob());
  await jobs.create(newJob());
  await assert.rejects(jobs.create(newJob()), TooManyJobs);
  await jobs.create(newJob({ account: 'b' }));
  await workTable.succeed(await taken(workTable), { result: '{}', audioS: 1 });
  await jobs.create(newJob());
});

onEachQueue('no two workers get the same job, and none is left over', async (open) => {
  const hosts = [await open(), await open(), await open()];
  for (let i = 0; i < 30; i++) await hosts[0]?.jobs.create(newJob({ parameters: `{"i":${i}}` }));
  const taken: string[] = [];
  await Promise.all(
    hosts.map(async ({ workTable }) => {
      for (let work = await workTable.take(); work !== undefined; work = await workTable.take()) {
        taken.push(work.job.parameters);
        await workTable.succeed(work, { result: work.job.parameters, audioS: 1 });
      }
    }),
  );
  assert.deepEqual([taken.length, new Set(taken).size], [30, 30]);
  const { jobs = [] } = (await hosts[1]?.jobs.list('a', { state: 'succeeded' }, 100)) ?? {};
  assert.equal(jobs.length, 30);
  for (const { id, parameters } of jobs)
    assert.equal((await hosts[1]?.jobs.get('a', id))?.result, parameters);
});

onEachQueue('accounts with few jobs do not wait for all jobs of one with many', async (open) => {
  const { jobs, workTable } = await open();
  for (let i = 0; i < 4; i++) await jobs.create(newJob());
  const { job: mine } = await jobs.create(newJob({ account: 'b' }));
  assert.deepEqual([...(await jobs.positions([mine]))], [[mine.id, 1]]);
  await taken(workTable);
  assert.equal((await taken(workTable)).job.account, 'b');
});

onEachQueue('a worker that stops gives its job back at once, and that is no failed try', async (open) => {
  const { jobs, workTable } = await open();
  await jobs.create(newJob());
  for (let i = 0; i < 8; i++) await workTable.giveBack(await taken(workTable));
  assert.equal((await taken(workTable)).job.attempts, 1);
});

onEachQueue('results are kept until they are old, and a finished job stays as it is', async (open) => {
  const { jobs, workTable, database } = await open();
  const { job } = await jobs.create(newJob());
  const work = await taken(workTable);
  await workTable.saveStep(work, 0, { results: '[]', cursor: '{}', audioS: 60 });
  await workTable.succeed(work, { result: '{"score":0.5}', audioS: 61.5 });
  const done = await jobs.get('a', job.id);
  assert.deepEqual(
    [done?.state, done?.result, done?.audioS, done?.fileProgress, done?.source],
    ['succeeded', '{"score":0.5}', 61.5, 1, '{}'],
  );
  assert.equal((await jobs.cancel('a', job.id))?.state, 'succeeded');
  for await (const left of workTable.savedResults(job.id)) assert.fail(left);
  const finished = new FinishedJobs(database);
  const { job: waiting } = await jobs.create(newJob());
  const [day, ...others] = await finished.days();
  assert.ok(day !== undefined && others.length === 0);
  assert.equal(day, new Date(done?.finishedAtMs ?? 0).toISOString().slice(0, 10));
  await finished.removeDays(['2020-01-01', '2100-01-01']);
  assert.ok(await jobs.get('a', job.id));
  await finished.removeDays([day]);
  assert.equal(await jobs.get('a', job.id), undefined);
  assert.ok(await jobs.get('a', waiting.id), 'it is not over');
  assert.deepEqual(await finished.days(), []);
});

onEachQueue('lists leave out results, which together may have gigabytes', async (open) => {
  const { jobs, workTable } = await open();
  const { job } = await jobs.create(newJob());
  const result = JSON.stringify({ long: 'x'.repeat(1 << 20) });
  await workTable.succeed(await taken(workTable), { result, audioS: 1 });
  const { jobs: listed } = await jobs.list('a', {}, 10);
  const found = await jobs.find([job.id]);
  for (const [one] of [listed, found]) {
    assert.ok(one !== undefined && JSON.stringify(one).length < 1000);
    assert.equal(one.state, 'succeeded');
  }
  assert.equal((await jobs.get('a', job.id))?.result, result);
  assert.equal((await jobs.findOne(job.id))?.result, result);
});

onEachQueue('accounts see their own jobs only, page by page', async (open) => {
  const { jobs } = await open();
  const ids: string[] = [];
  for (let i = 0; i < 5; i++)
    ids.push((await jobs.create(newJob({ task: i < 4 ? 'predict' : 'enroll' }))).job.id);
  const { job: ofOther } = await jobs.create(newJob({ account: 'b' }));
  assert.equal(await jobs.get('a', ofOther.id), undefined);
  assert.equal(await jobs.cancel('a', ofOther.id), undefined);
  const seen: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await jobs.list('a', {}, 2, cursor);
    seen.push(...page.jobs.map(({ id }) => id));
    cursor = page.cursor;
  } while (cursor !== undefined);
  assert.deepEqual(seen.toSorted(), ids.toSorted());
  assert.equal((await jobs.list('a', { task: 'enroll' }, 10)).jobs.length, 1);
  await assert.rejects(jobs.list('a', {}, 2, 'x'), RangeError);
});

onEachQueue('those who wait for work or for changes are told, on other hosts too', async (open, t) => {
  const [one, other] = [await open(), await open()];
  let works = 0;
  let changes = 0;
  t.after(other.workTable.follow(() => works++));
  t.after(other.jobs.follow(() => changes++));
  await one.jobs.create(newJob());
  await eventually(() => works > 0, 'the worker is told');
  changes = 0;
  await one.workTable.succeed(await taken(one.workTable), { result: '{}', audioS: 1 });
  await eventually(() => changes > 0, 'the client is told');
});

onEachQueue('jobs do not wait for a clock that was set back', async (open) => {
  const { jobs, workTable, database } = await open({ leaseMs: 1000 });
  await jobs.create(newJob());
  const dead = await taken(workTable);
  const inTwoDaysMs = Date.now() + 2 * 86_400_000;
  await database.execute('UPDATE jobs SET leased_until_ms = $1', [inTwoDaysMs]);
  await eventually(async () => (await workTable.reap()).taken === 1, 'it is taken from its worker');
  await database.execute('UPDATE jobs SET due_at_ms = $1', [inTwoDaysMs]);
  assert.equal((await taken(workTable)).job.id, dead.job.id);
});

onEachQueue(
  'usage counts a job once, with its end, also if its worker hears nothing of that',
  async (open) => {
    const { jobs, workTable, database } = await open({ leaseMs: 1 });
    const usageTable = new UsageTable(database);
    for (let i = 0; i < 3; i++) await jobs.create(newJob());
    const [first, second] = [await taken(workTable), await taken(workTable)];
    const finished = { result: '{}', audioS: 61.5, windows: 12, bytes: 1000 };
    await workTable.succeed(first, finished);
    await assert.rejects(workTable.succeed(first, finished), WorkLost);
    await workTable.fail(second, error, false);
    await workTable.giveBack(await taken(workTable));
    const [row, ...others] = await usageTable.read();
    assert.ok(row && others.length === 0);
    const { day: _, ...counted } = row;
    assert.deepEqual(counted, {
      account: 'a',
      keyId: 'key_a',
      route: 'job',
      requests: 2,
      errors: 1,
      audioS: 61.5,
      windows: 12,
      bytes: 1000,
    });
  },
);
