// SPDX-License-Identifier: Apache-2.0
//
// Accounts share the workers of batches, a worker keeps its batch however slowly the manifest arrives, and a batch that kills its
// workers is given up. With both queues.
import assert from 'node:assert/strict';
import { after } from 'node:test';
import { pino } from 'pino';
import { BatchWorkers, type BatchWorkersOptions } from '../../src/jobs/batches/batch-workers.js';
import { ManifestReader } from '../../src/jobs/batches/manifest-reader.js';
import { type BatchWorkerParts, runBatch } from '../../src/jobs/batches/run-batch.js';
import { BatchWorkTable } from '../../src/jobs/queue/batch-work-table.js';
import { TurnOver, TurnSlice } from '../../src/jobs/turns/turn-slice.js';
import { batchWorkerParts, createBatch } from '../support/batches.js';
import { MemoryByteSource } from '../support/byte-sources.js';
import { eventually } from '../support/eventually.js';
import { type JobParts, onEachQueue } from '../support/job-queues.js';
import { manyBatches } from '../support/thousand.js';
import { unhurried } from '../support/turn-limits.js';

const PARALLEL = 8;
const PER_ACCOUNT = 4;
const manifests = new ManifestReader();
after(() => manifests.close());

const batchIn = (jobParts: JobParts, account: string, manifest = 'key\na\n'): Promise<string> =>
  createBatch(jobParts, account, manifest);

const partsOf = (workTable: BatchWorkTable, more: Partial<BatchWorkerParts> = {}): BatchWorkerParts =>
  batchWorkerParts(workTable, manifests, { maxLines: 1_000_000, heartbeatMs: 50, ...more });

const batchWorkersOf = (workTable: BatchWorkTable, run: BatchWorkersOptions['run']): BatchWorkers =>
  new BatchWorkers(workTable, {
    parallel: PARALLEL,
    perAccount: PER_ACCOUNT,
    pollMs: 50,
    log: pino({ level: 'silent' }),
    slice: { sliceMs: 0 },
    run,
  });

onEachQueue('a batch waits for none of a thousand of another account', async (open, t) => {
  const jobParts = await open();
  await manyBatches(jobParts, 'slow');
  const begun: string[] = [];
  const batchWorkers = batchWorkersOf(jobParts.batchWorkTable, async (work, _nextLook, { stopping }) => {
    begun.push(work.job.account);
    if (work.job.account === 'slow') {
      await new Promise((resolve) => stopping.addEventListener('abort', resolve));
    }
    return 'lost';
  });
  t.after(() => batchWorkers.close());
  await eventually(() => begun.length === PER_ACCOUNT, 'its share is in work');
  await batchIn(jobParts, 'quick');
  await eventually(() => begun.includes('quick'), 'it is in work');
  assert.deepEqual(begun, [...Array(PER_ACCOUNT).fill('slow'), 'quick']);
});

onEachQueue('if all workers are busy, a batch makes room for other accounts', async (open, t) => {
  const jobParts = await open();
  const accounts = Array.from({ length: PARALLEL }, (_, i) => `slow-${i}`);
  for (const account of accounts) await batchIn(jobParts, account);
  const begun: string[] = [];
  const batchWorkers = batchWorkersOf(
    jobParts.batchWorkTable,
    async (work, nextLook, { slice, stopping }) => {
      begun.push(work.job.account);
      if (work.job.account === 'quick') return 'lost';
      try {
        for (;;) {
          slice.checkpoint();
          await nextLook(stopping);
        }
      } catch (error) {
        await jobParts.batchWorkTable.giveBack(work);
        return error instanceof TurnOver ? 'given back' : 'lost';
      }
    },
  );
  t.after(() => batchWorkers.close());
  await eventually(() => begun.length === PARALLEL, 'all places are taken');
  await batchIn(jobParts, 'quick');
  await eventually(() => begun.includes('quick'), 'one made room');
  assert.equal(begun.indexOf('quick'), PARALLEL);
  await eventually(() => begun.length > PARALLEL + 1, 'and is in work again');
});

onEachQueue('a worker keeps its batch while the manifest comes slowly', async (open) => {
  const jobParts = await open({ home: 'here' });
  const workTable = new BatchWorkTable(jobParts.database, 1500, 'here');
  const id = await batchIn(jobParts, 'a');
  await jobParts.database.execute('UPDATE jobs SET source = $2 WHERE id = $1', [
    id,
    JSON.stringify({ manifest: { object: 'slow.csv' }, resultFolder: 'folder/results' }),
  ]);
  const source = new MemoryByteSource(Buffer.from('key\na\nb\n'));
  const begunMs = performance.now();
  source.beforeRead = async () => {
    await eventually(async () => {
      assert.equal(await workTable.take(), undefined, 'nobody else has it');
      return performance.now() > begunMs + 4500;
    }, 'three leases');
  };
  const stop = new AbortController();
  const turn = await runBatch(
    (await workTable.take()) ?? assert.fail(),
    partsOf(workTable, {
      openSource: async () => source,
      nextLook: async () => stop.abort(new Error('The server stops.')),
    }),
    unhurried(stop.signal),
  );
  assert.equal(turn, 'given back');
  const again = (await workTable.take()) ?? assert.fail();
  assert.deepEqual([again.job.attempts, again.linesRead], [1, 2]);
  // It has been read: neither requested again nor kept.
  assert.deepEqual(JSON.parse(again.job.source), { resultFolder: 'folder/results', isRead: true });
});

onEachQueue('a batch that is cancelled is read no further', async (open) => {
  const jobParts = await open({ home: 'here' });
  const { batchWorkTable: workTable, jobs } = jobParts;
  const id = await batchIn(jobParts, 'a');
  await jobParts.database.execute('UPDATE jobs SET source = $2 WHERE id = $1', [
    id,
    JSON.stringify({ manifest: { object: 'endless.csv' }, resultFolder: 'folder/results' }),
  ]);
  const source = new MemoryByteSource(Buffer.from('key\na\nb\n'));
  source.beforeRead = async (_offset, _length, signal) => {
    await jobs.cancel('a', id);
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
  };
  const work = (await workTable.take()) ?? assert.fail();
  const turn = await runBatch(work, partsOf(workTable, { openSource: async () => source }), unhurried());
  assert.equal(turn, 'lost');
  assert.ok(source.isClosed);
});

onEachQueue('a batch whose workers die is given up after five of them', async (open) => {
  const jobParts = await open({ home: 'here', leaseMs: 1200 });
  const { batchWorkTable: workTable, jobs, database } = jobParts;
  const id = await batchIn(jobParts, 'a');
  const failed: string[] = [];
  for (let i = 0; i < 5; i++) {
    assert.equal((await workTable.take())?.job.attempts, i + 1);
    assert.deepEqual(await workTable.reap(), { taken: 0, failed: [] }, 'its worker may live');
    await eventually(async () => {
      const reaped = await workTable.reap();
      failed.push(...reaped.failed.map((job) => job.id));
      return reaped.taken === 1;
    }, 'its worker is dead');
    assert.equal(await workTable.take(), undefined, 'not at once');
    await database.execute('UPDATE jobs SET leased_until_ms = 0 WHERE id = $1', [id]);
  }
  assert.deepEqual(failed, [id]);
  const { state, failure } = (await jobs.get('a', id)) ?? assert.fail();
  assert.deepEqual([state, failure?.code], ['failed', 'WORKER_DIED']);
});

onEachQueue('reading makes room at saved lines, and goes on after them', async (open) => {
  const jobParts = await open({ home: 'here' });
  const { batchWorkTable: workTable } = jobParts;
  const keys = Array.from({ length: 1200 }, (_, i) => `file-${i}`);
  const id = await batchIn(jobParts, 'a', ['key', ...keys].join('\n'));
  // The clock stands still, so that the time until it is taken up again does not count.
  for (const linesRead of [500, 1000]) {
    const slice = new TurnSlice({ sliceMs: 0, overdueMs: 0, isWanted: () => true, clockMs: () => 0 });
    const work = (await workTable.take()) ?? assert.fail();
    const turn = await runBatch(work, partsOf(workTable), { ...unhurried(), slice });
    assert.equal(turn, 'given back');
    const { lines } = await jobParts.jobs.countLines(id);
    assert.equal(lines, linesRead);
  }
});

onEachQueue('a manifest that is replaced between two turns ends its batch', async (open) => {
  const jobParts = await open({ home: 'here' });
  const { batchWorkTable: workTable, jobs, database } = jobParts;
  const file = Buffer.from(['key', ...Array.from({ length: 600 }, (_, i) => `file-${i}`)].join('\n'));
  const turnWith = async (identity: string) => {
    const slice = new TurnSlice({ sliceMs: 0, overdueMs: 0, isWanted: () => true, clockMs: () => 0 });
    const work = (await workTable.take()) ?? assert.fail();
    const openSource = async () => new MemoryByteSource(file, identity);
    return runBatch(work, partsOf(workTable, { openSource }), { ...unhurried(), slice });
  };
  for (const [identity, outcome, code] of [
    ['old', 'given back', undefined],
    ['new', 'failed', 'FILE_CHANGED'],
  ] as const) {
    const id = await batchIn(jobParts, 'a');
    await database.execute('UPDATE jobs SET source = $2 WHERE id = $1', [
      id,
      JSON.stringify({ manifest: { object: 'today.csv' }, resultFolder: 'folder/results' }),
    ]);
    assert.equal(await turnWith('old'), 'given back');
    assert.equal((await jobs.countLines(id)).lines, 500);
    assert.equal(await turnWith(identity), outcome);
    assert.equal((await jobs.get('a', id))?.failure?.code, code);
    await jobs.cancel('a', id);
  }
});

onEachQueue('a batch whose lines are in work makes room', async (open) => {
  const jobParts = await open({ home: 'here' });
  await batchIn(jobParts, 'a');
  const slice = new TurnSlice({ sliceMs: 0, overdueMs: 0, isWanted: () => true, clockMs: () => 0 });
  const nextLook = async () => assert.fail('it waits for its lines');
  const work = (await jobParts.batchWorkTable.take()) ?? assert.fail();
  const turn = await runBatch(work, partsOf(jobParts.batchWorkTable, { nextLook }), {
    ...unhurried(),
    slice,
  });
  assert.equal(turn, 'given back');
});
