// SPDX-License-Identifier: Apache-2.0
//
// Workers that live keep their work when the leases of all are over at once: the database stood still, or its clock was set.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { BatchWorkTable } from '../../src/jobs/queue/batch-work-table.js';
import { DeliveryWorkTable } from '../../src/jobs/queue/delivery-work-table.js';
import { WorkLost } from '../../src/jobs/queue/job.js';
import { JobWorkTable } from '../../src/jobs/queue/job-work-table.js';
import { LeaseRenewal } from '../../src/jobs/turns/lease-renewal.js';
import type { Database } from '../../src/state/database/database.js';
import { createBatch } from '../support/batches.js';
import { type JobParts, onEachQueue } from '../support/job-queues.js';
import { newJob } from '../support/new-job.js';

const LEASE_MS = 30_000;

/** Takes two pieces of work of a kind. @returns renews the first; looks for dead workers and counts them */
const kinds: Readonly<
  Record<
    string,
    (
      parts: Pick<JobParts, 'jobs' | 'database'>,
    ) => Promise<{ renew(): Promise<unknown>; reaped(): Promise<number> }>
  >
> = {
  job: async ({ jobs, database }) => {
    const workTable = new JobWorkTable(database, LEASE_MS);
    for (const account of ['a', 'b']) await jobs.create({ ...newJob, account });
    const [first, second] = [await workTable.take(), await workTable.take()];
    assert.ok(first && second);
    return {
      renew: () => workTable.renew(first, 0),
      reaped: async () => (await workTable.reap()).taken,
    };
  },
  batch: async ({ jobs, database }) => {
    const batchWorkTable = new BatchWorkTable(database, LEASE_MS, 'here');
    for (const account of ['a', 'b']) await createBatch({ jobs } as JobParts, account, '{"key":"a"}');
    const [first, second] = [await batchWorkTable.take(), await batchWorkTable.take()];
    assert.ok(first && second);
    return {
      renew: () => batchWorkTable.renew(first),
      reaped: async () => (await batchWorkTable.reap()).taken,
    };
  },
  webhook: async ({ jobs, database }) => {
    const deliveryWorkTable = new DeliveryWorkTable(database, LEASE_MS);
    for (const account of ['a', 'b']) {
      const { job } = await jobs.create({ ...newJob, account, callbackUrl: 'https://hooks.example/' });
      await jobs.cancel(account, job.id);
    }
    const [first, second] = [await deliveryWorkTable.take(), await deliveryWorkTable.take()];
    assert.ok(first && second);
    return {
      renew: async () => assert.ok(await deliveryWorkTable.renew(first)),
      reaped: () => deliveryWorkTable.reap(),
    };
  },
};

/** The clock that measures the grace. @returns puts it forward */
function graceClock(t: TestContext): (ms: number) => void {
  let nowMs = 0;
  t.mock.method(performance, 'now', () => nowMs);
  return (ms) => {
    nowMs += ms;
  };
}

/** Sets the ends of all leases. */
async function lease(database: Database, untilMs: number): Promise<void> {
  for (const table of ['jobs', 'webhook_deliveries']) {
    await database.execute(`UPDATE ${table} SET leased_until_ms = $1 WHERE leased_until_ms IS NOT NULL`, [
      untilMs,
    ]);
  }
}

for (const [kind, take] of Object.entries(kinds)) {
  for (const [what, leasedUntilMs] of [
    ['set forward', 1],
    ['set back', Date.now() + 86_400_000],
  ] as const) {
    onEachQueue(`a ${kind} stays with a worker that lives after the clock was ${what}`, async (open, t) => {
      const parts = await open();
      const pass = graceClock(t);
      const { renew, reaped } = await take(parts);
      await lease(parts.database, leasedUntilMs);
      assert.equal(await reaped(), 0, 'both may live');
      // A dead connection, a new one and the next beat.
      pass(parts.database.dialect === 'postgres' ? 5000 + 15_000 + 2000 : 2000);
      assert.equal(await reaped(), 0, 'both may still live');
      await renew();
      pass(LEASE_MS);
      assert.equal(await reaped(), 1, 'the other one is dead');
      await renew();
    });
  }

  onEachQueue(`a ${kind} stays with a worker that lives after it was found to be dead`, async (open, t) => {
    const { database, jobs } = await open();
    const pass = graceClock(t);
    let beforeChange: () => Promise<unknown> = async () => {};
    const interrupted = new Proxy(database, {
      get(target, name) {
        if (name === 'transaction') {
          return (async (...change) => {
            await beforeChange();
            return target.transaction(...change);
          }) as Database['transaction'];
        }
        const found: unknown = Reflect.get(target, name);
        return typeof found === 'function' ? found.bind(target) : found;
      },
    });
    const { renew, reaped } = await take({ jobs, database: interrupted });
    await lease(database, 1);
    assert.equal(await reaped(), 0);
    pass(LEASE_MS);
    beforeChange = renew;
    assert.equal(await reaped(), 1, 'the other one');
    await renew();
  });
}

/** Timers and a clock, which stand still. */
function startClock(t: TestContext): (ms: number) => Promise<void> {
  t.mock.timers.enable({ apis: ['setInterval'] });
  let nowMs = 0;
  t.mock.method(performance, 'now', () => nowMs);
  return async (ms) => {
    nowMs += ms;
    t.mock.timers.tick(ms);
    // Work that the timers began goes on.
    await new Promise(setImmediate);
  };
}

test('a lease that was not renewed for ten seconds is told of, whether others have taken the work or not', async (t) => {
  const pass = startClock(t);
  const late: number[] = [];
  let answer = (): Promise<void> => Promise.resolve();
  const renewal = new LeaseRenewal(
    () => answer(),
    2000,
    (silentMs) => late.push(silentMs),
  );
  for (let i = 0; i < 10; i++) await pass(2000);
  assert.deepEqual(late, [], 'it is renewed in time');
  answer = () => Promise.reject(new Error('The database is away.'));
  for (let i = 0; i < 5; i++) await pass(2000);
  answer = () => Promise.resolve();
  await pass(2000);
  assert.deepEqual(late, [12_000]);
  assert.ok(!renewal.signal.aborted);
  await pass(2000);
  await pass(40_000);
  assert.deepEqual(late, [12_000, 40_000]);
  answer = () => Promise.reject(new WorkLost('It is in other hands.'));
  await pass(2000);
  assert.ok(renewal.signal.aborted);
  renewal.stop();
  assert.deepEqual(late, [12_000, 40_000], 'a cancelled job is nothing to tell of');
});
