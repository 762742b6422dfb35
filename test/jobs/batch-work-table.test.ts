// SPDX-License-Identifier: Apache-2.0
//
// Workers of batches that die at any point, with SQLite and with PostgreSQL: no line is lost, and none is there twice.
import assert from 'node:assert/strict';
import { after } from 'node:test';
import { ManifestReader } from '../../src/jobs/batches/manifest-reader.js';
import { type BatchWorkerParts, runBatch } from '../../src/jobs/batches/run-batch.js';
import { BatchWorkTable } from '../../src/jobs/queue/batch-work-table.js';
import { FinishedJobs } from '../../src/jobs/queue/finished-jobs.js';
import { WorkLost } from '../../src/jobs/queue/job.js';
import { batchWorkerParts, createBatch } from '../support/batches.js';
import { eventually } from '../support/eventually.js';
import { type JobParts, onEachQueue } from '../support/job-queues.js';
import { unhurried } from '../support/turn-limits.js';

const LINES = 620;
const manifests = new ManifestReader();
after(() => manifests.close());

function batchIn(jobParts: JobParts, lines = LINES): Promise<string> {
  const keys = Array.from({ length: lines }, (_, i) => JSON.stringify({ key: `file-${i + 1}` }));
  return createBatch(jobParts, 'a', keys.join('\n'));
}

const partsOf = (workTable: BatchWorkTable, more: Partial<BatchWorkerParts> = {}): BatchWorkerParts =>
  batchWorkerParts(workTable, manifests, { maxLines: LINES, heartbeatMs: 60_000, ...more });

async function takenBy(workTable: BatchWorkTable, { database }: JobParts) {
  let work: Awaited<ReturnType<BatchWorkTable['take']>>;
  await eventually(async () => {
    await workTable.reap();
    // Without the pause before another try.
    await database.execute("UPDATE jobs SET leased_until_ms = 0 WHERE task = 'batch' AND state = 'queued'");
    work = await workTable.take();
    return work !== undefined;
  }, 'the batch is free');
  return work ?? assert.fail();
}

/** The same table, with some methods blocked. */
const without = (workTable: BatchWorkTable, blocked: Partial<BatchWorkTable>): BatchWorkTable =>
  new Proxy(workTable, {
    get(target, name: keyof BatchWorkTable) {
      const found = blocked[name] ?? target[name];
      return typeof found === 'function' ? found.bind(target) : found;
    },
  });

onEachQueue('workers that die lose no line and repeat none', async (open) => {
  const jobParts = await open({ maxUnfinished: 1, home: 'here' });
  const { jobs, workTable: workers } = jobParts;
  const workTable = new BatchWorkTable(jobParts.database, 200, 'here');
  const id = await batchIn(jobParts);

  // The first dies after it has saved one part of the manifest.
  const first = await takenBy(workTable, jobParts);
  let saved = 0;
  const breaking = without(workTable, {
    addLines: async (...args) => {
      if (saved++ > 0) throw new Error('It is gone.');
      await workTable.addLines(...args);
    },
    fail: () => Promise.reject(new Error('It is gone.')),
  });
  await assert.rejects(runBatch(first, partsOf(breaking), unhurried()), /gone/);
  assert.equal((await jobs.countLines(id)).lines, 500);

  // The second continues after its end, and dies while it writes the result.
  const second = await takenBy(workTable, jobParts);
  assert.equal(second.linesRead, 500);
  await assert.rejects(workTable.addLines(first, 501, []), WorkLost);
  const done: string[] = [];
  const doLines = async (): Promise<void> => {
    for (let work = await workers.take(); work; work = await workers.take()) {
      done.push(work.job.source);
      assert.ok((await jobs.countLines(id)).open <= 100);
      await workers.succeed(work, { result: JSON.stringify({ of: work.job.source }), audioS: 1 });
    }
  };
  const partial: string[] = [];
  const dying = without(workTable, { fail: () => Promise.reject(new Error('It is gone.')) });
  const cut = partsOf(dying, {
    nextLook: doLines,
    writeFrom: async (_, pieces) => {
      for await (const piece of pieces) partial.push(Buffer.from(piece).toString());
      throw new Error('The disk is gone.');
    },
  });
  await assert.rejects(runBatch(second, cut, unhurried()), /gone/);

  const third = await takenBy(workTable, jobParts);
  let text = '';
  const whole = partsOf(workTable, {
    writeFrom: async (name, pieces) => {
      assert.equal(name, `folder/results/batches/${id}.jsonl`);
      for await (const piece of pieces) text += Buffer.from(piece).toString();
    },
  });
  assert.equal(await runBatch(third, whole, unhurried()), 'succeeded');
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
  const jobParts = await open({ home: 'here' });
  const workTable = new BatchWorkTable(jobParts.database, undefined, 'here');
  const id = await batchIn(jobParts, 2);
  const work = await takenBy(workTable, jobParts);
  const stop = new AbortController();
  const parts = partsOf(workTable, {
    nextLook: async () => {
      const line = (await jobParts.workTable.take()) ?? assert.fail();
      await jobParts.workTable.fail(line, { code: 'FILE_EMPTY', message: 'It is empty.' }, false);
      stop.abort(new Error('The server stops.'));
    },
  });
  assert.equal(await runBatch(work, parts, unhurried(stop.signal)), 'given back');
  const finished = new FinishedJobs(jobParts.database);
  await finished.removeDays([new Date().toISOString().slice(0, 10), ...(await finished.days())]);
  const { lines, failed } = await jobParts.jobs.countLines(id);
  assert.deepEqual([lines, failed], [2, 1]);
});

onEachQueue('a batch whose result cannot be stored is tried again, five times', async (open) => {
  const jobParts = await open({ home: 'here' });
  const workTable = new BatchWorkTable(jobParts.database, undefined, 'here');
  const id = await batchIn(jobParts, 1);
  const outcomes: string[] = [];
  for (let i = 0; i < 5; i++) {
    const parts = partsOf(workTable, {
      nextLook: async () => {
        const line = (await jobParts.workTable.take()) ?? assert.fail();
        await jobParts.workTable.succeed(line, { result: '{}', audioS: 1 });
      },
      writeFrom: () => Promise.reject(new Error('The disk is full.')),
    });
    outcomes.push(await runBatch(await takenBy(workTable, jobParts), parts, unhurried()));
    assert.equal(await workTable.take(), undefined, 'not at once');
  }
  assert.deepEqual(outcomes, ['retried', 'retried', 'retried', 'retried', 'failed']);
  assert.equal((await jobParts.jobs.get('a', id))?.failure?.code, 'INTERNAL');
});

onEachQueue('a batch that is cancelled while its result is written leaves no part of one', async (open) => {
  const jobParts = await open({ home: 'here' });
  const workTable = new BatchWorkTable(jobParts.database, undefined, 'here');
  const id = await batchIn(jobParts, 1);
  let isWritten = false;
  const parts = partsOf(workTable, {
    nextLook: async () => {
      const line = (await jobParts.workTable.take()) ?? assert.fail();
      await jobParts.workTable.succeed(line, { result: '{}', audioS: 1 });
    },
    writeFrom: async (_, pieces) => {
      await jobParts.jobs.cancel('a', id);
      await workTable.tidy();
      for await (const _piece of pieces);
      isWritten = true;
    },
  });
  assert.equal(await runBatch(await takenBy(workTable, jobParts), parts, unhurried()), 'lost');
  assert.ok(!isWritten);
});
