// SPDX-License-Identifier: Apache-2.0
//
// A worker's turn with a job: its saved state, the start of a later turn, and its end. With both queues; the analyses are
// generators of steps.
import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';
import {
  CursorRefused,
  type RecordingCursor,
  type RecordingRequest,
  type RecordingStep,
} from '../../src/analysis/analyser/recording.js';
import type { Prediction } from '../../src/base/contract/prediction.js';
import { ServiceError } from '../../src/base/errors/service-error.js';
import type { JobWorkTable } from '../../src/jobs/queue/job-work-table.js';
import { type JobRunnerParts, runJob } from '../../src/jobs/work/job-runner.js';
import { DatabaseError } from '../../src/state/database/database.js';
import { recordingEnd } from '../support/analyser-double.js';
import { MemoryByteSource } from '../support/byte-sources.js';
import { eventually } from '../support/eventually.js';
import { onEachQueue } from '../support/job-queues.js';
import { newJob } from '../support/new-job.js';
import { stepFrom } from '../support/recording-steps.js';
import { taken } from '../support/taken-work.js';
import { unhurried } from '../support/turn-limits.js';

type Analyse = (request: RecordingRequest) => AsyncGenerator<RecordingStep, void, void>;

const parts = (
  workTable: JobWorkTable,
  analyse: Analyse,
  more: Partial<JobRunnerParts> = {},
): JobRunnerParts => ({
  workTable,
  analyser: { analyseRecording: analyse },
  openSource: async () => new MemoryByteSource(Buffer.from('any bytes')),
  enroll: async () => Promise.reject(new Error('Nothing is enrolled here.')),
  store: async (name) => assert.fail(name),
  maxBytes: 1 << 20,
  maxDurationS: 86_400,
  timeLimitMs: 60_000,
  heartbeatMs: 60_000,
  ...more,
});

const last = (startS: number): RecordingStep => ({
  ...recordingEnd('m'),
  windows: [{ startS, endS: startS + 5, scores: [0.5] }],
});

/** Steps of 5 s from the cursor on, 20 s in all. */
async function* fromCursor({ cursor }: RecordingRequest): AsyncGenerator<RecordingStep, void, void> {
  let startS = cursor?.audioS ?? 0;
  for (; startS < 15; startS += 5) yield stepFrom(startS);
  yield last(startS);
}

const startsIn = (result: string | undefined): number[] =>
  (JSON.parse(result ?? '{}') as { segments: { start: number }[] }).segments.map(({ start }) => start);

onEachQueue('a later turn goes on after the last saved step; no window is twice', async (open) => {
  const { jobs, workTable } = await open();
  const { job } = await jobs.create(newJob);
  const first = await runJob(
    await taken(workTable),
    parts(workTable, async function* () {
      yield stepFrom(0);
      yield stepFrom(5);
      throw new Error('A thread died.');
    }),
    unhurried(),
  );
  assert.equal(first.outcome, 'retried');
  const between = await jobs.get('a', job.id);
  assert.deepEqual([between?.state, between?.audioS, between?.failure?.code], ['queued', 10, 'INTERNAL']);
  let begunWith: RecordingCursor | undefined;
  const second = await runJob(
    await taken(workTable),
    parts(workTable, (request) => {
      begunWith = request.cursor;
      return fromCursor(request);
    }),
    unhurried(),
  );
  assert.equal(begunWith?.audioS, 10);
  assert.ok(second.outcome === 'succeeded');
  assert.deepEqual([second.done.scoredWindows, second.done.bytes], [4, 9]);
  assert.deepEqual(startsIn((await jobs.get('a', job.id))?.result), [0, 5, 10, 15]);
});

onEachQueue('the processing time of a job is that of all its turns', async (open) => {
  const { jobs, workTable } = await open();
  const { job } = await jobs.create(newJob);
  const first = await runJob(
    await taken(workTable),
    parts(workTable, async function* () {
      await setTimeout(300);
      yield stepFrom(0);
      throw new Error('A thread died.');
    }),
    unhurried(),
  );
  assert.equal(first.outcome, 'retried');
  const second = await runJob(await taken(workTable), parts(workTable, fromCursor), unhurried());
  assert.equal(second.outcome, 'succeeded');
  const { processing_time } = JSON.parse((await jobs.get('a', job.id))?.result ?? '{}') as Prediction;
  assert.ok(processing_time >= 0.29, `${processing_time}`);
});

onEachQueue('a job that meets a full disk says so, and is tried again', async (open) => {
  const { jobs, workTable } = await open();
  const { job } = await jobs.create(newJob);
  const full = () => Promise.reject(new DatabaseError('full', 'SQLITE_FULL', 'database or disk is full'));
  const turn = await runJob(
    await taken(workTable),
    parts(workTable, fromCursor, { openSource: full }),
    unhurried(),
  );
  assert.equal(turn.outcome, 'retried');
  const { code, message = '' } = (await jobs.get('a', job.id))?.failure ?? {};
  assert.equal(code, 'DATABASE_UNAVAILABLE');
  assert.match(message, /there is no room on its disk/);
});

onEachQueue('a cursor of another model or recording is dropped with its results', async (open) => {
  const { jobs, workTable } = await open();
  const { job } = await jobs.create(newJob);
  const work = await taken(workTable);
  await workTable.saveStep(work, 0, { results: '{"windows":[],"skipped":[]}', cursor: '{}', audioS: 60 });
  await workTable.giveBack(work);
  const turn = await runJob(
    await taken(workTable),
    parts(workTable, async function* (request) {
      if (request.cursor !== undefined) throw new CursorRefused('another model');
      yield* fromCursor(request);
    }),
    unhurried(),
  );
  assert.equal(turn.outcome, 'succeeded');
  assert.deepEqual(startsIn((await jobs.get('a', job.id))?.result), [0, 5, 10, 15]);
});

onEachQueue('what breaks every time is given up after five tries, with its reason', async (open) => {
  const { jobs, workTable } = await open();
  const { job } = await jobs.create(newJob);
  const outcomes: string[] = [];
  for (let i = 0; i < 5; i++) {
    const broken = parts(workTable, fromCursor, {
      openSource: async () => Promise.reject(new ServiceError('STORAGE_UNAVAILABLE')),
    });
    outcomes.push((await runJob(await taken(workTable), broken, unhurried())).outcome);
  }
  assert.deepEqual(outcomes, ['retried', 'retried', 'retried', 'retried', 'failed']);
  const after = await jobs.get('a', job.id);
  assert.deepEqual(
    [after?.state, after?.attempts, after?.failure?.code],
    ['failed', 5, 'STORAGE_UNAVAILABLE'],
  );
});

onEachQueue('an analysis without end is stopped with its worker, and another goes on', async (open) => {
  const { jobs, workTable } = await open();
  const { job } = await jobs.create(newJob);
  const stopping = new AbortController();
  const turn = runJob(
    await taken(workTable),
    parts(workTable, async function* ({ signal }) {
      for (let i = 0; ; i++) {
        signal.throwIfAborted();
        yield stepFrom(5 * i);
      }
    }),
    unhurried(stopping.signal),
  );
  await eventually(async () => ((await jobs.get('a', job.id))?.audioS ?? 0) >= 15, 'three steps are saved');
  stopping.abort(new Error('The worker stops.'));
  assert.equal((await turn).outcome, 'given back');
  const left = await jobs.get('a', job.id);
  assert.deepEqual([left?.state, left?.attempts, left?.failure], ['queued', 0, undefined]);
  assert.ok((await taken(workTable)).savedSteps >= 3);
});

onEachQueue('a worker that lives keeps its job, however long a step takes', async (open) => {
  const { jobs, workTable } = await open({ leaseMs: 3000 });
  const { job } = await jobs.create(newJob);
  let end = (): void => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const turn = runJob(
    await taken(workTable),
    parts(
      workTable,
      async function* (request) {
        request.onProgress?.({ decodedS: 10, fileProgress: 0.5 });
        await ended;
        yield* fromCursor(request);
      },
      { heartbeatMs: 50 },
    ),
    unhurried(),
  );
  const begunMs = performance.now();
  await eventually(async () => {
    assert.deepEqual(await workTable.reap(), { taken: 0, failed: [] });
    return performance.now() > begunMs + 4500;
  }, 'a lease and a half');
  assert.equal((await jobs.get('a', job.id))?.fileProgress, 0.5);
  end();
  assert.equal((await turn).outcome, 'succeeded');
});

onEachQueue('a job that is cancelled between two steps saves nothing more', async (open) => {
  const { jobs, workTable } = await open();
  const { job } = await jobs.create(newJob);
  const turn = await runJob(
    await taken(workTable),
    parts(workTable, async function* (request) {
      yield stepFrom(0);
      await jobs.cancel('a', job.id);
      yield* fromCursor(request);
    }),
    unhurried(),
  );
  assert.equal(turn.outcome, 'lost');
  const after = await jobs.get('a', job.id);
  assert.deepEqual([after?.state, after?.result], ['cancelled', undefined]);
});

onEachQueue('an upload whose job is cancelled during the last step gets no result', async (open) => {
  const { jobs, workTable } = await open();
  const { job } = await jobs.create({
    ...newJob,
    source: '{"object":"folder/analysis/key","resultObject":"folder/results/key"}',
  });
  const stored: string[] = [];
  const store = async (name: string): Promise<void> => void stored.push(name);
  const analyse: Analyse = async function* () {
    await jobs.cancel('a', job.id);
    yield last(0);
  };
  const turn = await runJob(await taken(workTable), parts(workTable, analyse, { store }), unhurried());
  assert.equal(turn.outcome, 'lost');
  assert.deepEqual(stored, []);
});

onEachQueue(
  'the result is stored before the job is done; if that fails, the job is tried again',
  async (open) => {
    const { jobs, workTable } = await open();
    const { job } = await jobs.create({
      ...newJob,
      source: '{"object":"folder/analysis/key","resultObject":"folder/results/key"}',
    });
    const stored: [name: string, state: string | undefined][] = [];
    const store = async (name: string): Promise<void> => {
      stored.push([name, (await jobs.get('a', job.id))?.state]);
      if (stored.length === 1) throw new ServiceError('STORAGE_FULL');
    };
    const first = await runJob(await taken(workTable), parts(workTable, fromCursor, { store }), unhurried());
    const second = await runJob(await taken(workTable), parts(workTable, fromCursor, { store }), unhurried());
    assert.deepEqual([first.outcome, second.outcome], ['retried', 'succeeded']);
    assert.deepEqual(stored, [
      ['folder/results/key', 'running'],
      ['folder/results/key', 'running'],
    ]);
    assert.deepEqual(startsIn((await jobs.get('a', job.id))?.result), [0, 5, 10, 15]);
  },
);

onEachQueue(
  'the result of a recording is stored if it was deleted since, and not over that of a newer one',
  async (open) => {
    const { jobs, workTable } = await open();
    for (const change of ['deleted', 'replaced']) {
      let content: string | undefined = 'old';
      const stored: string[] = [];
      const { job } = await jobs.create({
        ...newJob,
        source: '{"object":"folder/analysis/key","resultObject":"folder/results/key"}',
      });
      const turn = await runJob(
        await taken(workTable),
        parts(
          workTable,
          async function* (request) {
            content = change === 'deleted' ? undefined : 'new';
            yield* fromCursor(request);
          },
          {
            openSource: async () => {
              if (content === undefined) throw new ServiceError('OBJECT_NOT_FOUND');
              return new MemoryByteSource(Buffer.from(content), content);
            },
            store: async (name) => void stored.push(name),
          },
        ),
        unhurried(),
      );
      assert.deepEqual(stored, change === 'deleted' ? ['folder/results/key'] : [], change);
      assert.equal(turn.outcome, 'succeeded');
      assert.deepEqual(startsIn((await jobs.get('a', job.id))?.result), [0, 5, 10, 15]);
    }
  },
);
