// SPDX-License-Identifier: Apache-2.0
//
// Metrics of the job queue for autoscalers, with SQLite and with PostgreSQL.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Registry } from 'prom-client';
import { freshFor } from '../../src/base/observe/fresh-for.js';
import { JobMetrics } from '../../src/jobs/queue/job-metrics.js';
import { onEachQueue } from '../support/job-queues.js';

async function readingOf(registry: Registry, series: string): Promise<number> {
  const line = (await registry.metrics()).split('\n').find((text) => text.startsWith(`${series} `));
  return Number(line?.slice(series.length + 1));
}

onEachQueue('every host tells the same of the queue', async (open) => {
  const hosts = [await open(), await open()];
  const [{ jobs, workTable, database } = assert.fail()] = hosts;
  /** As if no figures were known yet. */
  const seen = async () =>
    Promise.all(
      hosts.map(async (host) => {
        const registry = new Registry();
        new JobMetrics(registry, () => host.jobs.countUnfinished(), { workers: 3, busy: () => 2 });
        const figures = ['veravox_jobs{state="queued"}', 'veravox_jobs{state="running"}'];
        const counts = await Promise.all(figures.map((name) => readingOf(registry, name)));
        return { counts, oldestS: await readingOf(registry, 'veravox_oldest_queued_job_seconds') };
      }),
    );
  assert.deepEqual(await seen(), Array(2).fill({ counts: [0, 0], oldestS: 0 }));
  const job = { account: 'a', keyId: 'k', task: 'predict', source: '{}', parameters: '{}' } as const;
  const first = await jobs.create(job);
  await jobs.create(job);
  // Workers process its lines when they are in the queue.
  await jobs.create({ ...job, task: 'batch', manifest: '' });
  const age = 'UPDATE jobs SET created_at_ms = created_at_ms - $2 WHERE id = $1';
  await database.execute(age, [first.job.id, 100_000]);
  for (const { counts, oldestS } of await seen()) {
    assert.deepEqual(counts, [2, 0]);
    assert.ok(oldestS >= 100 && oldestS < 200, String(oldestS));
  }
  // A job that waits for its next attempt does not lack a worker.
  const work = (await workTable.take()) ?? assert.fail();
  assert.equal(work.job.id, first.job.id);
  assert.equal(await workTable.fail(work, { code: 'FETCH_FAILED', message: '' }, true), true);
  for (const { counts, oldestS } of await seen()) {
    assert.deepEqual(counts, [2, 0]);
    assert.ok(oldestS < 100, String(oldestS));
  }
});

test('the workers of this process are told without the database', async () => {
  const registry = new Registry();
  const metrics = new JobMetrics(registry, () => Promise.reject(new Error('The database is gone.')), {
    workers: 3,
    busy: () => 2,
  });
  metrics.countTurn('succeeded', 10);
  assert.equal(await readingOf(registry, 'veravox_job_workers'), 3);
  assert.equal(await readingOf(registry, 'veravox_job_workers_busy'), 2);
});

test('figures are asked for once in a while, however many want them', async () => {
  let nowMs = 0;
  let asked = 0;
  let isGone = false;
  const read = freshFor(
    5000,
    async () => {
      asked++;
      if (isGone) throw new Error('The database is gone.');
      return asked;
    },
    () => nowMs,
  );
  assert.deepEqual(await Promise.all([read(), read(), read()]), [1, 1, 1]);
  nowMs = 4999;
  assert.equal(await read(), 1);
  nowMs = 5000;
  assert.equal(await read(), 2);
  nowMs = 10_000;
  isGone = true;
  await assert.rejects(read());
  isGone = false;
  assert.equal(await read(), 4);
});
