// SPDX-License-Identifier: Apache-2.0
//
// Accounts share the tenders of batches, a tender keeps its batch however slowly the manifest arrives, and a batch that kills its
// tenders is given up. With both queues.
import assert from 'node:assert/strict';
import { after } from 'node:test';
import { pino } from 'pino';
import { BatchTenders, type BatchTendersOptions } from '../../src/jobs/batches/batch-tenders.js';
import { ManifestReader } from '../../src/jobs/batches/manifest-reader.js';
import { type TenderParts, tendBatch } from '../../src/jobs/batches/tend-batch.js';
import { BatchDesk } from '../../src/jobs/queue/batch-desk.js';
import { TurnOver, TurnSlice } from '../../src/jobs/turns/turn-slice.js';
import { createBatch, tenderParts } from '../support/batches.js';
import { MemoryByteSource } from '../support/byte-sources.js';
import { eventually } from '../support/eventually.js';
import { type JobOffice, onEachQueue } from '../support/job-queues.js';
import { manyBatches } from '../support/thousand.js';
import { unhurried } from '../support/turn-limits.js';

const PARALLEL = 8;
const PER_ACCOUNT = 4;
const manifests = new ManifestReader();
after(() => manifests.close());

const batchIn = (office: JobOffice, account: string, manifest = 'key\na\n'): Promise<string> =>
  createBatch(office, account, manifest);

const partsOf = (desk: BatchDesk, more: Partial<TenderParts> = {}): TenderParts =>
  tenderParts(desk, manifests, { maxLines: 1_000_000, heartbeatMs: 50, ...more });

const tendersOf = (desk: BatchDesk, tend: BatchTendersOptions['tend']): BatchTenders =>
  new BatchTenders(desk, {
    parallel: PARALLEL,
    perAccount: PER_ACCOUNT,
    pollMs: 50,
    log: pino({ level: 'silent' }),
    slice: { sliceMs: 0 },
    tend,
  });

onEachQueue('a batch waits for none of a thousand of another account', async (open, t) => {
  const office = await open();
  await manyBatches(office, 'slow');
  const begun: string[] = [];
  const tenders = tendersOf(office.batchDesk, async (work, _nextLook, { stopping }) => {
    begun.push(work.job.account);
    if (work.job.account === 'slow') {
      await new Promise((resolve) => stopping.addEventListener('abort', resolve));
    }
    return 'lost';
  });
  t.after(() => tenders.close());
  await eventually(() => begun.length === PER_ACCOUNT, 'its share is tended');
  await batchIn(office, 'quick');
  await eventually(() => begun.includes('quick'), 'it is tended');
  assert.deepEqual(begun, [...Array(PER_ACCOUNT).fill('slow'), 'quick']);
});

onEachQueue('if all tenders are busy, a batch makes room for other accounts', async (open, t) => {
  const office = await open();
  const accounts = Array.from({ length: PARALLEL }, (_, i) => `slow-${i}`);
  for (const account of accounts) await batchIn(office, account);
  const begun: string[] = [];
  const tenders = tendersOf(office.batchDesk, async (work, nextLook, { slice, stopping }) => {
    begun.push(work.job.account);
    if (work.job.account === 'quick') return 'lost';
    try {
      for (;;) {
        slice.checkpoint();
        await nextLook(stopping);
      }
    } catch (error) {
      await office.batchDesk.giveBack(work);
      return error instanceof TurnOver ? 'given back' : 'lost';
    }
  });
  t.after(() => tenders.close());
  await eventually(() => begun.length === PARALLEL, 'all places are taken');
  await batchIn(office, 'quick');
  await eventually(() => begun.includes('quick'), 'one made room');
  assert.equal(begun.indexOf('quick'), PARALLEL);
  await eventually(() => begun.length > PARALLEL + 1, 'and is tended again');
});

onEachQueue('a tender keeps its batch while the manifest comes slowly', async (open) => {
  const office = await open({ home: 'here' });
  const desk = new BatchDesk(office.database, 1500, 'here');
  const id = await batchIn(office, 'a');
  await office.database.execute('UPDATE jobs SET source = $2 WHERE id = $1', [
    id,
    JSON.stringify({ manifest: { object: 'slow.csv' }, resultFolder: 'folder/results' }),
  ]);
  const source = new MemoryByteSource(Buffer.from('key\na\nb\n'));
  const begunMs = performance.now();
  source.beforeRead = async () => {
    await eventually(async () => {
      assert.equal(await desk.take(), undefined, 'nobody else has it');
      return performance.now() > begunMs + 4500;
    }, 'three leases');
  };
  const stop = new AbortController();
  const turn = await tendBatch(
    (await desk.take()) ?? assert.fail(),
    partsOf(desk, {
      openSource: async () => source,
      nextLook: async () => stop.abort(new Error('The server stops.')),
    }),
    unhurried(stop.signal),
  );
  assert.equal(turn, 'given back');
  const again = (await desk.take()) ?? assert.fail();
  assert.deepEqual([again.job.attempts, again.linesRead], [1, 2]);
  // It has been read: neither requested again nor kept.
  assert.deepEqual(JSON.parse(again.job.source), { resultFolder: 'folder/results', isRead: true });
});

onEachQueue('a batch that is cancelled is read no further', async (open) => {
  const office = await open({ home: 'here' });
  const { batchDesk: desk, jobs } = office;
  const id = await batchIn(office, 'a');
  await office.database.execute('UPDATE jobs SET source = $2 WHERE id = $1', [
    id,
    JSON.stringify({ manifest: { object: 'endless.csv' }, resultFolder: 'folder/results' }),
  ]);
  const source = new MemoryByteSource(Buffer.from('key\na\nb\n'));
  source.beforeRead = async (_offset, _length, signal) => {
    await jobs.cancel('a', id);
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
  };
  const work = (await desk.take()) ?? assert.fail();
  const turn = await tendBatch(work, partsOf(desk, { openSource: async () => source }), unhurried());
  assert.equal(turn, 'lost');
  assert.ok(source.isClosed);
});

onEachQueue('a batch whose tenders die is given up after five of them', async (open) => {
  const office = await open({ home: 'here' });
  const { batchDesk: desk, jobs, database } = office;
  const id = await batchIn(office, 'a');
  for (let i = 0; i < 5; i++) {
    assert.equal((await desk.take())?.job.attempts, i + 1);
    assert.deepEqual(await desk.reap(), [], 'its tender may live');
    await database.execute('UPDATE jobs SET leased_until_ms = 1 WHERE id = $1', [id]);
  }
  assert.equal(await desk.take(), undefined);
  assert.deepEqual(
    (await desk.reap()).map((job) => job.id),
    [id],
  );
  const { state, failure } = (await jobs.get('a', id)) ?? assert.fail();
  assert.deepEqual([state, failure?.code], ['failed', 'WORKER_DIED']);
});

onEachQueue('reading makes room at saved lines, and goes on after them', async (open) => {
  const office = await open({ home: 'here' });
  const { batchDesk: desk } = office;
  const keys = Array.from({ length: 1200 }, (_, i) => `file-${i}`);
  const id = await batchIn(office, 'a', ['key', ...keys].join('\n'));
  // The clock stands still, so that the time until it is taken up again does not count.
  for (const linesRead of [500, 1000]) {
    const slice = new TurnSlice({ sliceMs: 0, overdueMs: 0, isWanted: () => true, clockMs: () => 0 });
    const work = (await desk.take()) ?? assert.fail();
    const turn = await tendBatch(work, partsOf(desk), { ...unhurried(), slice });
    assert.equal(turn, 'given back');
    const { lines } = await office.jobs.countLines(id);
    assert.equal(lines, linesRead);
  }
});

onEachQueue('a batch whose lines are in work makes room', async (open) => {
  const office = await open({ home: 'here' });
  await batchIn(office, 'a');
  const slice = new TurnSlice({ sliceMs: 0, overdueMs: 0, isWanted: () => true, clockMs: () => 0 });
  const nextLook = async () => assert.fail('it waits for its lines');
  const work = (await office.batchDesk.take()) ?? assert.fail();
  const turn = await tendBatch(work, partsOf(office.batchDesk, { nextLook }), { ...unhurried(), slice });
  assert.equal(turn, 'given back');
});
