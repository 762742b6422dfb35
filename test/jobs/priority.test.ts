// SPDX-License-Identifier: Apache-2.0
//
// Order of accounts, files for each worker, and an end to every wait. Time is simulated.
import assert from 'node:assert/strict';
import type { NewJob, Work } from '../../src/jobs/queue/job.js';
import type { JobWorkTable } from '../../src/jobs/queue/job-work-table.js';
import { eventually } from '../support/eventually.js';
import { onEachQueue } from '../support/job-queues.js';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

const newJob = (account: string, more: Partial<NewJob> = {}): NewJob => ({
  account,
  keyId: `key_${account}`,
  task: 'predict',
  source: '{"link":"https://storage.example/secret"}',
  parameters: '{"model":"m"}',
  ...more,
});

async function done(workTable: JobWorkTable): Promise<Work | undefined> {
  const work = await workTable.take();
  if (work !== undefined) await workTable.succeed(work, { result: '{}', audioS: 1 });
  return work;
}

/** Takes one job after each job of a new account. @returns the number of new accounts before the job was taken */
async function newcomersBefore(
  wanted: string,
  workTable: JobWorkTable,
  sendOne: (i: number) => Promise<unknown>,
  limit: number,
): Promise<number> {
  for (let i = 0; i < limit; i++) {
    await sendOne(i);
    if ((await done(workTable))?.job.id === wanted) return i;
  }
  return limit;
}

onEachQueue('a busy account goes behind newcomers for a limited time only', async (open) => {
  let nowMs = Date.now();
  const { jobs, workTable } = await open({ clockMs: () => nowMs });
  for (let i = 0; i < 4; i++) await jobs.create(newJob('busy'));
  const { job: last } = await jobs.create(newJob('busy'));
  const send = async (i: number): Promise<void> => {
    nowMs += 5 * MINUTE_MS;
    await jobs.create(newJob(`new-${i}`));
  };
  // Each job waits 10 minutes more than the one before: the last 40, which is 8 newcomers and 4 jobs of its own account.
  const waited = await newcomersBefore(last.id, workTable, send, 100);
  assert.ok(waited > 5, 'newcomers go first');
  assert.ok(waited <= 13, `it waited for ${waited}`);
});

onEachQueue('no job waits for jobs that are made more than a day later', async (open) => {
  let nowMs = Date.now();
  const { jobs, workTable, database } = await open({ clockMs: () => nowMs });
  const { job: last } = await (async () => {
    for (let i = 0; i < 150; i++) await jobs.create(newJob('busy'));
    return jobs.create(newJob('busy'));
  })();
  // All but the last are cancelled.
  const { jobs: others } = await jobs.list('busy', {}, 200);
  for (const { id } of others) if (id !== last.id) await jobs.cancel('busy', id);
  nowMs += DAY_MS - MINUTE_MS;
  await jobs.create(newJob('before'));
  nowMs += 2 * MINUTE_MS;
  await jobs.create(newJob('after'));
  assert.equal((await done(workTable))?.job.account, 'before');
  assert.equal((await done(workTable))?.job.id, last.id);
  assert.equal((await done(workTable))?.job.account, 'after');
  assert.deepEqual(await database.query("SELECT id FROM jobs WHERE state = 'queued'"), []);
});

onEachQueue(
  'a job that was made before the clock was set back does not wait until it has caught up',
  async (open) => {
    let nowMs = Date.now() + 30 * DAY_MS;
    const { jobs, workTable } = await open({ clockMs: () => nowMs });
    const { job } = await jobs.create(newJob('early'));
    nowMs -= 30 * DAY_MS;
    assert.deepEqual(await workTable.reap(), { taken: 0, failed: [] });
    const send = async (i: number): Promise<void> => {
      nowMs += MINUTE_MS;
      await jobs.create(newJob(`new-${i}`));
    };
    const waited = await newcomersBefore(job.id, workTable, send, 100);
    assert.equal(waited, 0);
  },
);

onEachQueue('a stored file goes to workers that can read it, a link to any', async (open) => {
  const [one, other] = [await open({ home: 'folder-1' }), await open({ home: 'folder-2' })];
  // On a single host, everything is its own.
  if (one.database.dialect === 'sqlite') return;
  const source = '{"object":"a/analysis/b"}';
  const { job: stored } = await one.jobs.create(newJob('a', { source, home: 'folder-1' }));
  const { job: linked } = await one.jobs.create(newJob('b'));
  const { job: batch } = await one.jobs.create(
    newJob('a', { task: 'batch', source: '{}', home: 'folder-1' }),
  );
  assert.deepEqual(
    [...(await one.jobs.positions([stored, linked]))].map(([, before]) => before),
    [0, 1],
  );
  const taken = await other.workTable.take();
  assert.equal(taken?.job.id, linked.id);
  assert.deepEqual([await other.workTable.take(), await other.batchWorkTable.take()], [undefined, undefined]);
  assert.equal((await other.jobs.get('a', stored.id))?.state, 'queued', 'it waits');
  // Given back and retried, it stays with its folder.
  const first = await one.workTable.take();
  assert.equal(first?.job.id, stored.id);
  await one.workTable.giveBack(first);
  assert.equal(await other.workTable.take(), undefined);
  const second = await one.workTable.take();
  assert.ok(second);
  assert.ok(await one.workTable.fail(second, { code: 'STORAGE_UNAVAILABLE', message: 'Gone.' }, true));
  await eventually(async () => {
    assert.equal(await other.workTable.take(), undefined);
    return (await one.workTable.take()) !== undefined;
  }, 'the second try');
  assert.equal((await one.batchWorkTable.take())?.job.id, batch.id);
  assert.equal((await one.jobs.cancel('a', stored.id))?.state, 'cancelled');
  assert.equal(await one.workTable.take(), undefined);
});

onEachQueue('of stored files and links, the one that is next goes first', async (open) => {
  let nowMs = Date.now();
  const { jobs, workTable } = await open({ home: 'here', clockMs: () => nowMs });
  const source = '{"object":"a/analysis/b"}';
  const wanted: string[] = [];
  for (let i = 0; i < 6; i++) {
    nowMs += MINUTE_MS;
    const more = i % 3 === 0 ? { source, home: 'here' } : {};
    wanted.push((await jobs.create(newJob(`account-${i}`, more))).job.id);
  }
  const order: (string | undefined)[] = [];
  for (let i = 0; i < 6; i++) order.push((await done(workTable))?.job.id);
  assert.deepEqual(order, wanted);
});
