// SPDX-License-Identifier: Apache-2.0
//
// Accounts share the workers: a quick job does not wait for a thousand slow ones of another account, and long ones make room for
// others at their checkpoints. With both databases; the analyses are generators of steps.
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { pino } from 'pino';
import type { RecordingRequest, RecordingStep } from '../../src/analysis/analyser/recording.js';
import { type JobTurn, runJob } from '../../src/jobs/work/job-runner.js';
import { JobWorkers } from '../../src/jobs/work/job-workers.js';
import { recordingEnd } from '../support/analyser-double.js';
import { MemoryByteSource } from '../support/byte-sources.js';
import { eventually } from '../support/eventually.js';
import { type JobParts, onEachQueue } from '../support/job-queues.js';
import { stepFrom } from '../support/recording-steps.js';
import { manyJobs } from '../support/thousand.js';

type Steps = (request: RecordingRequest) => AsyncGenerator<RecordingStep, void, void>;

interface Turn {
  readonly account: string;
  readonly outcome: JobTurn['outcome'];
}

function startWorkers(
  t: TestContext,
  { workTable }: JobParts,
  analyse: Steps,
  { workers = 1, sliceMs = 20_000, overdueMs = 300_000 } = {},
) {
  const turns: Turn[] = [];
  const working = new JobWorkers(workTable, {
    workers,
    pollMs: 20,
    log: pino({ level: 'silent' }),
    slice: { sliceMs, overdueMs },
    onTurn: ({ account }, turn) => {
      if (turn !== 'worker died') turns.push({ account, outcome: turn.outcome });
    },
    run: (work, limits) =>
      runJob(
        work,
        {
          workTable,
          analyser: { analyseRecording: analyse },
          openSource: async () => new MemoryByteSource(Buffer.from('any bytes')),
          enroll: async () => assert.fail('nothing is enrolled'),
          store: async () => {},
          maxBytes: 1 << 20,
          maxDurationS: 86_400,
          timeLimitMs: 60_000,
          heartbeatMs: 1000,
        },
        limits,
      ),
  });
  t.after(() => working.close());
  return { turns, working };
}

const newJob = (account: string) => ({
  account,
  keyId: 'k',
  task: 'predict' as const,
  source: '{"object":"a/analysis/b"}',
  parameters: JSON.stringify({ model: 'm', threshold: 0.5, silenceThresholdPercent: 80 }),
});

const stateOf = async ({ jobs }: JobParts, account: string, id: string) =>
  (await jobs.get(account, id)) ?? assert.fail();

/** Until its turn is ended. */
async function* endless({ signal }: RecordingRequest): AsyncGenerator<RecordingStep, void, void> {
  await new Promise((resolve) => signal.addEventListener('abort', resolve));
  signal.throwIfAborted();
}

onEachQueue('a quick job waits for none of a thousand slow ones of another account', async (open, t) => {
  const jobParts = await open();
  await manyJobs(jobParts, 'slow');
  const begun: string[] = [];
  const { turns, working } = startWorkers(
    t,
    jobParts,
    async function* (request) {
      const { owner = '', model } = request;
      begun.push(owner);
      if (owner === 'quick') yield recordingEnd(model);
      else yield* endless(request);
    },
    { workers: 2 },
  );
  await eventually(() => begun.length === 2, 'the workers are busy');
  const { job } = await jobParts.jobs.create(newJob('quick'));
  await eventually(
    async () => (await stateOf(jobParts, 'quick', job.id)).state === 'succeeded',
    'it is done',
  );
  assert.deepEqual(begun, ['slow', 'slow', 'quick']);
  await eventually(() => working.busy === 2, 'its turn is over');
  assert.deepEqual(turns, [{ account: 'quick', outcome: 'succeeded' }]);
});

onEachQueue('a long job makes room at a checkpoint, and goes on behind the others', async (open, t) => {
  const jobParts = await open();
  const long = await Promise.all(['a', 'b'].map((account) => jobParts.jobs.create(newJob(account))));
  let isOver = false;
  const { turns, working } = startWorkers(
    t,
    jobParts,
    async function* ({ owner, cursor, model, signal }) {
      if (owner === 'quick') yield recordingEnd(model);
      else {
        for (let s = cursor?.audioS ?? 0; !isOver; s += 5) {
          signal.throwIfAborted();
          yield stepFrom(s);
        }
        yield recordingEnd(model);
      }
    },
    { sliceMs: 0 },
  );
  await eventually(
    async () =>
      (await Promise.all(long.map(({ job }) => stateOf(jobParts, job.account, job.id)))).every(
        ({ audioS }) => audioS > 0,
      ),
    'both are in work',
  );
  assert.deepEqual(turns, [], 'nobody waits');
  for (let i = 0; i < 3; i++) {
    const { job } = await jobParts.jobs.create(newJob('quick'));
    await eventually(
      async () => (await stateOf(jobParts, 'quick', job.id)).state === 'succeeded',
      'it is done',
    );
  }
  isOver = true;
  for (const { job } of long) {
    await eventually(
      async () => (await stateOf(jobParts, job.account, job.id)).state === 'succeeded',
      'the long ones end',
    );
    const { attempts, failure, audioS } = await stateOf(jobParts, job.account, job.id);
    assert.deepEqual([attempts, failure], [1, undefined], 'making room is no attempt');
    assert.ok(audioS > 0);
  }
  await eventually(() => working.busy === 0, 'their turns are over');
  const kinds = new Set(turns.map(({ account, outcome }) => `${account === 'quick'} ${outcome}`));
  assert.deepEqual(kinds, new Set(['true succeeded', 'false given back', 'false succeeded']));
});

onEachQueue('long jobs that share a place do not interrupt each other within a slice', async (open, t) => {
  const jobParts = await open();
  for (const account of ['a', 'b', 'c']) await jobParts.jobs.create(newJob(account));
  let steps = 0;
  const { turns } = startWorkers(t, jobParts, async function* ({ signal, cursor }) {
    for (let s = cursor?.audioS ?? 0; ; s += 5) {
      signal.throwIfAborted();
      steps++;
      yield stepFrom(s);
    }
  });
  await eventually(() => steps > 100, 'many checkpoints');
  assert.deepEqual(turns, []);
});

onEachQueue('tries before it made room still count', async (open) => {
  const { jobs, workTable } = await open();
  const { job } = await jobs.create(newJob('a'));
  const outcomes: boolean[] = [];
  for (let i = 0; i < 5; i++) {
    for (const end of ['room', 'failure']) {
      const work = (await workTable.take()) ?? assert.fail('it is due');
      if (end === 'room') await workTable.giveBack(work);
      else outcomes.push(await workTable.fail(work, { code: 'INTERNAL', message: 'Broken.' }, true));
    }
  }
  assert.deepEqual(outcomes, [true, true, true, true, false]);
  assert.deepEqual((await jobs.get('a', job.id))?.attempts, 5);
});
