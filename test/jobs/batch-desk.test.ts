// SPDX-License-Identifier: Apache-2.0
//
// Tenders of batches that die at any point, with SQLite and with PostgreSQL: no line is lost, and none is there twice.
import assert from 'node:assert/strict';
import { after } from 'node:test';
import { ManifestReader } from '../../src/jobs/batches/manifest-reader.js';
import { type TenderParts, tendBatch } from '../../src/jobs/batches/tend-batch.js';
import { BatchDesk } from '../../src/jobs/queue/batch-desk.js';
import { FinishedJobs } from '../../src/jobs/queue/finished-jobs.js';
import { WorkLost } from '../../src/jobs/queue/job.js';
import { createBatch, tenderParts } from '../support/batches.js';
import { eventually } from '../support/eventually.js';
import { type JobOffice, onEachQueue } from '../support/job-queues.js';
import { unhurried } from '../support/turn-limits.js';

const LINES = 620;
const manifests = new ManifestReader();
after(() => manifests.close());

function batchIn(office: JobOffice, lines = LINES): Promise<string> {
  const keys = Array.from({ length: lines }, (_, i) => JSON.stringify({ key: `file-${i + 1}` }));
  return createBatch(office, 'a', keys.join('\n'));
}

const partsOf = (desk: BatchDesk, more: Partial<TenderParts> = {}): TenderParts =>
  tenderParts(desk, manifests, { maxLines: LINES, heartbeatMs: 60_000, ...more });

async function takenBy(desk: BatchDesk) {
  let work: Awaited<ReturnType<BatchDesk['take']>>;
  await eventually(async () => {
    work = await desk.take();
    return work !== undefined;
  }, 'the batch is free');
  return work ?? assert.fail();
}

/** The same desk, with some methods blocked. */
const without = (desk: BatchDesk, blocked: Partial<BatchDesk>): BatchDesk =>
  new Proxy(desk, {
    get(target, name: keyof BatchDesk) {
      const found = blocked[name] ?? target[name];
      return typeof found === 'function' ? found.bind(target) : found;
    },
  });

onEachQueue('tenders and workers that die lose no line and repeat none', async (open) => {
  const office = await open({ maxUnfinished: 1, home: 'here' });
  const { jobs, desk: workers } = office;
  const desk = new BatchDesk(office.database, 200, 'here');
  const id = await batchIn(office);

  // The first dies after it has saved one part of the manifest.
  const first = await takenBy(desk);
  let saved = 0;
  const breaking = without(desk, {
    addLines: async (...args) => {
      if (saved++ > 0) throw new Error('It is gone.');
      await desk.addLines(...args);
    },
    fail: () => Promise.reject(new Error('It is gone.')),
  });
  await assert.rejects(tendBatch(first, partsOf(breaking), unhurried()), /gone/);
  assert.equal((await jobs.countLines(id)).lines, 500);

  // The second continues after its end, and dies while it writes the result.
  const second = await takenBy(desk);
  assert.equal(second.linesRead, 500);
  await assert.rejects(desk.addLines(first, 501, []), WorkLost);
  const done: string[] = [];
  const doLines = async (): Promise<void> => {
    for (let work = await workers.take(); work; work = await workers.take()) {
      done.push(work.job.source);
      assert.ok((await jobs.countLines(id)).open <= 100);
      await workers.succeed(work, { result: JSON.stringify({ of: work.job.source }), audioS: 1 });
    }
  };
  const partial: string[] = [];
  const dying = without(desk, { fail: () => Promise.reject(new Error('It is gone.')) });
  const cut = partsOf(dying, {
    nextLook: doLines,
    writeFrom: async (_, pieces) => {
      for await (const piece of pieces) partial.push(Buffer.from(piece).toString());
      throw new Error('The disk is gone.');
    },
  });
  await assert.rejects(tendBatch(second, cut, unhurried()), /gone/);

  const third = await takenBy(desk);
  let text = '';
  const whole = partsOf(desk, {
    writeFrom: async (name, pieces) => {
      assert.equal(name, `folder/results/batches/${id}.jsonl`);
      for await (const piece of pieces) text += Buffer.from(piece).toString();
    },
  });
  assert.equal(await tendBatch(third, whole, unhurried()), 'succeeded');
  const ends = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.deepEqual(
    ends.map(({ line, key, result }) => [line, key, JSON.parse(result.of).object]),
    Array.from({ length: LINES }, (_, i) => [i + 1, `file-${i + 1}`, `folder/analysis/file-${i + 1}`]),
  );
  assert.equal(new Set(done).size, LINES);
  assert.equal(done.length, LINES, 'each once');
  const { state, attempts, audioS } = (await jobs.get('a', id)) ?? assert.fail();
  assert.deepEqual([state, attempts, audioS], ['succeeded', 3, LINES]);
});

onEachQueue('lines that ended days ago stay until their batch ends', async (open) => {
  const office = await open({ home: 'here' });
  const desk = new BatchDesk(office.database, undefined, 'here');
  const id = await batchIn(office, 2);
  const work = await takenBy(desk);
  const stop = new AbortController();
  const parts = partsOf(desk, {
    nextLook: async () => {
      const line = (await office.desk.take()) ?? assert.fail();
      await office.desk.fail(line, { code: 'FILE_EMPTY', message: 'It is empty.' }, false);
      stop.abort(new Error('The server stops.'));
    },
  });
  assert.equal(await tendBatch(work, parts, unhurried(stop.signal)), 'given back');
  const finished = new FinishedJobs(office.database);
  await finished.removeDays([new Date().toISOString().slice(0, 10), ...(await finished.days())]);
  const { lines, failed } = await office.jobs.countLines(id);
  assert.deepEqual([lines, failed], [2, 1]);
});

onEachQueue('a batch whose result cannot be stored is tried again, five times', async (open) => {
  const office = await open({ home: 'here' });
  const desk = new BatchDesk(office.database, undefined, 'here');
  const id = await batchIn(office, 1);
  const outcomes: string[] = [];
  for (let i = 0; i < 5; i++) {
    const parts = partsOf(desk, {
      nextLook: async () => {
        const line = (await office.desk.take()) ?? assert.fail();
        await office.desk.succeed(line, { result: '{}', audioS: 1 });
      },
      writeFrom: () => Promise.reject(new Error('The disk is full.')),
    });
    outcomes.push(await tendBatch(await takenBy(desk), parts, unhurried()));
    assert.equal(await desk.take(), undefined, 'not at once');
    await office.database.execute('UPDATE jobs SET leased_until_ms = 0 WHERE id = $1', [id]);
  }
  assert.deepEqual(outcomes, ['retried', 'retried', 'retried', 'retried', 'failed']);
  assert.equal((await office.jobs.get('a', id))?.failure?.code, 'INTERNAL');
});
