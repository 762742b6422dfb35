// SPDX-License-Identifier: Apache-2.0
//
// The promises of the webhook queue, with SQLite and with PostgreSQL.
import assert from 'node:assert/strict';
import type { Attempt } from '../../src/jobs/queue/delivery.js';
import { DeliveryWorkTable, type Turn } from '../../src/jobs/queue/delivery-work-table.js';
import { FinishedJobs } from '../../src/jobs/queue/finished-jobs.js';
import type { NewJob } from '../../src/jobs/queue/job.js';
import { ROWS_AT_ONCE } from '../../src/state/database/pieces.js';
import { countedDatabase } from '../support/counted-database.js';
import { eventually } from '../support/eventually.js';
import { type JobParts, onEachQueue } from '../support/job-queues.js';

const newJob = (callbackUrl: string | undefined = 'https://hooks.example/end'): NewJob => ({
  account: 'a',
  keyId: 'key_a',
  task: 'predict',
  source: '{}',
  parameters: '{"model":"m"}',
  callbackUrl,
});

const refused: Attempt = { atMs: 1_700_000_000_000, tookMs: 12.3, status: 500, problem: 'status 500' };
const accepted: Attempt = { atMs: 1_700_000_000_000, tookMs: 3, status: 204 };
const again = { isFinal: false };

/** As in docs/webhooks.md. */
const STATED_PAUSES_S = [5, 30, 120, 300, 900, 1800, 3600, 7200, 14_400, 28_800, 28_200];

async function ended({ jobs }: JobParts, callbackUrl?: string): Promise<string> {
  const { job } = await jobs.create(newJob(callbackUrl));
  await jobs.cancel('a', job.id);
  return job.id;
}

async function taken(workTable: DeliveryWorkTable): Promise<Turn> {
  return (await workTable.take()) ?? assert.fail('there is a delivery');
}

const hastened = "UPDATE webhook_deliveries SET due_at_ms = 0 WHERE state = 'waiting'";

onEachQueue(
  'each end of a job is one delivery, whatever the end; without callback_url none',
  async (open) => {
    const jobParts = await open();
    const { jobs, workTable, deliveryWorkTable } = jobParts;
    const { job } = await jobs.create(newJob());
    const { job: silent } = await jobs.create({ ...newJob(), callbackUrl: undefined });
    assert.equal(await deliveryWorkTable.take(), undefined);
    for (const id of [job.id, silent.id]) {
      const work = (await workTable.take()) ?? assert.fail('there is a job');
      if (work.job.id === id) await workTable.succeed(work, { result: '{}', audioS: 1 });
      else assert.fail('in their order');
    }
    const { job: failing } = await jobs.create(newJob());
    const work = (await workTable.take()) ?? assert.fail('there is a job');
    await workTable.fail(work, { code: 'FILE_EMPTY', message: 'It is empty.' }, false);
    const cancelled = await ended(jobParts);
    await jobs.cancel('a', cancelled);
    const seen: string[] = [];
    for (let turn = await deliveryWorkTable.take(); turn; turn = await deliveryWorkTable.take()) {
      seen.push(turn.delivery.jobId);
      await deliveryWorkTable.succeed(turn, accepted);
    }
    assert.deepEqual(seen.sort(), [job.id, failing.id, cancelled].sort());
  },
);

onEachQueue(
  'a failed attempt is repeated on the stated schedule, under the same id, for a day',
  async (open) => {
    const jobParts = await open();
    const { jobs, deliveryWorkTable, database } = jobParts;
    const jobId = await ended(jobParts);
    const ids = new Set<string>();
    for (const pauseS of STATED_PAUSES_S) {
      const turn = await taken(deliveryWorkTable);
      ids.add(turn.delivery.id);
      const beforeMs = Date.now();
      assert.equal(await deliveryWorkTable.fail(turn, refused, again), true);
      const { state, dueAtMs = 0 } = (await jobs.deliveries.ofJob(jobId)) ?? assert.fail();
      assert.equal(state, 'waiting');
      assert.ok(dueAtMs >= beforeMs + 1000 * pauseS && dueAtMs <= Date.now() + 1000 * pauseS, `${pauseS} s`);
      assert.equal(await deliveryWorkTable.take(), undefined, 'not before its time');
      await database.execute(hastened);
    }
    assert.equal(await deliveryWorkTable.fail(await taken(deliveryWorkTable), refused, again), false);
    await database.execute(hastened);
    assert.equal(await deliveryWorkTable.take(), undefined, 'nothing is left');
    const after = (await jobs.deliveries.ofJob(jobId)) ?? assert.fail();
    assert.deepEqual([after.state, after.allAttempts, after.log.length, ids.size], ['failed', 12, 12, 1]);
    assert.deepEqual(after.log[0], { ...refused, tookMs: 12 });
    assert.ok(after.finishedAtMs !== undefined && after.dueAtMs === undefined);
  },
);

onEachQueue('a client may ask for a longer pause, of up to an hour, and for the end', async (open) => {
  const jobParts = await open();
  const { jobs, deliveryWorkTable, database } = jobParts;
  const jobId = await ended(jobParts);
  for (const [retryAfterS, pauseS] of [
    [90, 90],
    [1, 30],
    [999_999, 3600],
  ] as const) {
    const beforeMs = Date.now();
    await deliveryWorkTable.fail(await taken(deliveryWorkTable), refused, { isFinal: false, retryAfterS });
    const { dueAtMs = 0 } = (await jobs.deliveries.ofJob(jobId)) ?? assert.fail();
    assert.equal(Math.floor((dueAtMs - beforeMs) / 10_000), Math.floor(pauseS / 10));
    await database.execute(hastened);
  }
  const gone: Attempt = { atMs: 1, tookMs: 1, status: 410, problem: 'status 410' };
  assert.equal(await deliveryWorkTable.fail(await taken(deliveryWorkTable), gone, { isFinal: true }), false);
  assert.equal((await jobs.deliveries.ofJob(jobId))?.state, 'failed');
});

onEachQueue(
  'of a sender that died, another one takes over after a pause, and the dead one changes nothing',
  async (open) => {
    const jobParts = await open({ leaseMs: 1 });
    const other = await open();
    const jobId = await ended(jobParts);
    const first = await taken(jobParts.deliveryWorkTable);
    await eventually(async () => (await other.deliveryWorkTable.reap()) === 1, 'the lease ends');
    assert.equal(await other.deliveryWorkTable.take(), undefined, 'it counts as an attempt');
    await jobParts.database.execute(hastened);
    const second = await taken(other.deliveryWorkTable);
    assert.deepEqual([second.delivery.id, second.delivery.attempts], [first.delivery.id, 1]);
    assert.equal(await jobParts.deliveryWorkTable.renew(first), false);
    assert.equal(await jobParts.deliveryWorkTable.succeed(first, accepted), false);
    assert.equal(await jobParts.deliveryWorkTable.fail(first, refused, again), undefined);
    assert.equal(await other.deliveryWorkTable.reap(), 0, 'a lease that has not ended');
    assert.equal(await other.deliveryWorkTable.succeed(second, accepted), true);
    const { state, log = [] } = (await jobParts.jobs.deliveries.ofJob(jobId)) ?? assert.fail();
    assert.deepEqual(
      [state, log.map(({ problem }) => problem)],
      ['delivered', ['the server that sent it died', undefined]],
    );
  },
);

onEachQueue('a sender that lives keeps its delivery, however long an attempt takes', async (open) => {
  const { deliveryWorkTable, ...jobParts } = await open({ leaseMs: 3000 });
  await ended({ deliveryWorkTable, ...jobParts });
  const turn = await taken(deliveryWorkTable);
  const begunMs = performance.now();
  await eventually(async () => {
    assert.equal(await deliveryWorkTable.renew(turn), true);
    assert.equal(await deliveryWorkTable.reap(), 0);
    return performance.now() > begunMs + 4500;
  }, 'a lease and a half');
  assert.equal(await deliveryWorkTable.succeed(turn, accepted), true);
});

onEachQueue('what is put off counts no attempt; what is over can be sent again', async (open) => {
  const jobParts = await open();
  const { jobs, deliveryWorkTable } = jobParts;
  const jobId = await ended(jobParts);
  assert.equal(await jobs.deliveries.replay(jobId), undefined, 'it waits anyway');
  await deliveryWorkTable.postpone(await taken(deliveryWorkTable), 0);
  const turn = await taken(deliveryWorkTable);
  assert.equal(turn.delivery.attempts, 0);
  await deliveryWorkTable.succeed(turn, accepted);
  for (const id of [jobId, turn.delivery.id]) {
    assert.equal((await jobs.deliveries.replay(id))?.id, turn.delivery.id);
    const replayed = await taken(deliveryWorkTable);
    assert.deepEqual([replayed.delivery.id, replayed.delivery.attempts], [turn.delivery.id, 0]);
    await deliveryWorkTable.succeed(replayed, accepted);
  }
  assert.equal((await jobs.deliveries.ofJob(jobId))?.log.length, 3);
  assert.equal(await jobs.deliveries.countWaiting(1000), 0);
});

onEachQueue('of a delivery that is sent again and again, the latest attempts are kept', async (open) => {
  const jobParts = await open();
  const { jobs, deliveryWorkTable } = jobParts;
  const jobId = await ended(jobParts);
  for (let atMs = 1; atMs <= 30; atMs++) {
    await deliveryWorkTable.succeed(await taken(deliveryWorkTable), { ...accepted, atMs });
    await jobs.deliveries.replay(jobId);
  }
  const rows = await jobParts.database.query('SELECT at_ms FROM webhook_attempts ORDER BY attempt');
  assert.deepEqual(
    rows.map(({ at_ms }) => at_ms),
    Array.from({ length: 24 }, (_, i) => 7 + i),
  );
  assert.equal((await jobs.deliveries.ofJob(jobId))?.log.at(-1)?.atMs, 30);
});

onEachQueue('webhooks do not wait for a clock that was set back', async (open) => {
  const { deliveryWorkTable, database, ...jobParts } = await open();
  await ended({ deliveryWorkTable, database, ...jobParts });
  const inTwoDaysMs = Date.now() + 2 * 86_400_000;
  await database.execute('UPDATE webhook_deliveries SET due_at_ms = $1', [inTwoDaysMs]);
  assert.equal(await deliveryWorkTable.reap(), 0);
  await taken(deliveryWorkTable);
});

onEachQueue('very many that wait for a clock that was set back are moved in pieces', async (open) => {
  const { jobs, database } = await open();
  const { job } = await jobs.create(newJob());
  await database.execute(
    `INSERT INTO jobs (id, account, key_id, task, source, parameters, priority, created_at_ms, request_hash, state)
      WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 2500)
      SELECT 'job' || n, account, key_id, task, source, parameters, 0, 0, '', 'cancelled' FROM numbers, jobs WHERE id = $1`,
    [job.id],
  );
  await database.execute(
    `INSERT INTO webhook_deliveries (id, job_id, account, url, state, created_at_ms, due_at_ms)
      SELECT id, id, account, 'https://hooks.example/', 'waiting', 0, CAST($1 AS BIGINT) FROM jobs WHERE state = 'cancelled'`,
    [Date.now() + 2 * 86_400_000],
  );
  const { database: counting, changed } = countedDatabase(database);
  await new DeliveryWorkTable(counting).reap();
  assert.equal(
    changed.reduce((sum, rows) => sum + rows, 0),
    2500,
  );
  assert.ok(
    changed.every((rows) => rows <= ROWS_AT_ONCE),
    `${changed}`,
  );
});

onEachQueue('the log goes with its job, and a delivery that waits ends with it', async (open) => {
  const jobParts = await open();
  const { jobs, deliveryWorkTable, database } = jobParts;
  const jobId = await ended(jobParts);
  const turn = await taken(deliveryWorkTable);
  await deliveryWorkTable.fail(turn, refused, again);
  const finished = new FinishedJobs(database);
  await finished.removeDays(await finished.days());
  assert.equal(await jobs.deliveries.ofJob(jobId), undefined);
  assert.deepEqual(await database.query('SELECT * FROM webhook_attempts'), []);
  await database.execute(hastened);
  assert.equal(await deliveryWorkTable.take(), undefined);
});

onEachQueue(
  'secrets overlap while they are replaced, and end at once when they are revoked',
  async (open) => {
    const { jobs } = await open();
    const { webhookSecrets } = jobs;
    assert.deepEqual(await webhookSecrets.active('a'), []);
    const first = await webhookSecrets.create('a', 60_000);
    const second = await webhookSecrets.create('a', 60_000);
    await webhookSecrets.create('b', 0);
    assert.match(first.text, /^whsec_[A-Za-z0-9+/]{43}=$/);
    const texts = async () => (await webhookSecrets.active('a')).map(({ text }) => text).sort();
    assert.deepEqual(await texts(), [first.text, second.text].sort());
    const third = await webhookSecrets.create('a', 0);
    assert.deepEqual(await texts(), [third.text]);
    await assert.rejects(
      webhookSecrets.create('a', 0, () => Promise.reject(new Error('no audit'))),
      /no audit/,
    );
    assert.deepEqual(await texts(), [third.text]);
    assert.equal((await webhookSecrets.remove(third.id))?.account, 'a');
    assert.equal(await webhookSecrets.remove(third.id), undefined);
    assert.deepEqual(await texts(), []);
  },
);
