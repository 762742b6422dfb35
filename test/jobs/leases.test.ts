// SPDX-License-Identifier: Apache-2.0
//
// Workers that live keep their work when the leases of all are over at once: the database stood still, or its clock was set.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { WorkLost } from '../../src/jobs/queue/job.js';
import { LeaseRenewal } from '../../src/jobs/turns/lease-renewal.js';
import { createBatch } from '../support/batches.js';
import { eventually } from '../support/eventually.js';
import { type JobParts, onEachQueue } from '../support/job-queues.js';
import { newJob } from '../support/new-job.js';

/** Takes two pieces of work of a kind. @returns renews the first; looks for dead workers and counts them */
const kinds: Readonly<
  Record<string, (parts: JobParts) => Promise<{ renew(): Promise<unknown>; reaped(): Promise<number> }>>
> = {
  job: async ({ jobs, workTable }) => {
    for (const account of ['a', 'b']) await jobs.create({ ...newJob, account });
    const [first, second] = [await workTable.take(), await workTable.take()];
    assert.ok(first && second);
    return {
      renew: () => workTable.renew(first, 0),
      reaped: async () => (await workTable.reap()).taken,
    };
  },
  batch: async (parts) => {
    for (const account of ['a', 'b']) await createBatch(parts, account, '{"key":"a"}');
    const { batchWorkTable } = parts;
    const [first, second] = [await batchWorkTable.take(), await batchWorkTable.take()];
    assert.ok(first && second);
    return {
      renew: () => batchWorkTable.renew(first),
      reaped: async () => (await batchWorkTable.reap()).taken,
    };
  },
  webhook: async ({ jobs, deliveryWorkTable }) => {
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

for (const [kind, take] of Object.entries(kinds)) {
  for (const [what, leasedUntilMs] of [
    ['set forward', 1],
    ['set back', Date.now() + 86_400_000],
  ] as const) {
    onEachQueue(`a ${kind} stays with a worker that lives after the clock was ${what}`, async (open) => {
      // The grace is an eighth of it.
      const parts = await open({ leaseMs: 12_000, home: 'here' });
      const { renew, reaped } = await take(parts);
      for (const table of ['jobs', 'webhook_deliveries']) {
        await parts.database.execute(
          `UPDATE ${table} SET leased_until_ms = $1 WHERE leased_until_ms IS NOT NULL`,
          [leasedUntilMs],
        );
      }
      assert.equal(await reaped(), 0, 'both may live');
      await renew();
      await eventually(async () => (await reaped()) === 1, 'the other one is dead');
      await renew();
    });
  }
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
