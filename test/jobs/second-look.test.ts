// SPDX-License-Identifier: Apache-2.0
//
// The second look of a job: it makes room for other accounts, goes on where it was, and a deadline that it misses costs the stretches,
// not the verdict. The first two with the real analyser.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before } from 'node:test';
import type { FullAnalyser, RecordingRequest, RecordingStep } from '../../src/analysis/analyser/recording.js';
import { UploadArena } from '../../src/analysis/memory/arena.js';
import { startPipeline } from '../../src/analysis/pipeline/pipeline.js';
import { loadAddon } from '../../src/base/addon/addon.js';
import { packageDir } from '../../src/base/config/package-dir.js';
import type { JobWorkTable } from '../../src/jobs/queue/job-work-table.js';
import { TurnSlice } from '../../src/jobs/turns/turn-slice.js';
import { type JobRunnerParts, runJob } from '../../src/jobs/work/job-runner.js';
import { recordingEnd } from '../support/analyser-double.js';
import { MemoryByteSource } from '../support/byte-sources.js';
import { onEachQueue } from '../support/job-queues.js';
import { splicedAnalysis } from '../support/spliced-analysis.js';
import { taken } from '../support/taken-work.js';
import { testConfig } from '../support/test-server.js';
import { unhurried } from '../support/turn-limits.js';
import { monoWav } from '../support/wav.js';

const RATE_HZ = 16_000;
let analyser: FullAnalyser;
let model: string;
let file: Uint8Array;

/** A generated sentence in human speech. */
before(async () => {
  const samplesOf = async (name: string): Promise<Float32Array> => {
    const decoded = loadAddon().decode(await readFile(path.join(packageDir, `test/fixtures/${name}.flac`)));
    return new (loadAddon().Resampler)(decoded.sampleRateHz, RATE_HZ).convert(decoded.samples);
  };
  const clips = await Promise.all(['human-lj-a', 'human-lj-b'].map(samplesOf));
  const speech = Float32Array.from(
    Array.from({ length: 5 }, () => clips.flatMap((clip) => [...clip])).flat(),
  );
  speech.set((await samplesOf('ai-kokoro')).subarray(0, 5 * RATE_HZ), Math.round(31.3 * RATE_HZ));
  file = monoWav(speech, RATE_HZ);
  const modelsDir = path.join(packageDir, 'models');
  analyser = await startPipeline({ ...testConfig, modelsDir }, new UploadArena(1 << 20).buffer);
  model = analyser.status().detectors[0]?.id as string;
});
after(() => analyser.close());

type Analyse = (request: RecordingRequest) => AsyncGenerator<RecordingStep, void, void>;

const partsOf = (workTable: JobWorkTable, analyse: Analyse): JobRunnerParts => ({
  workTable,
  analyser: { analyseRecording: analyse },
  openSource: async () => new MemoryByteSource(file),
  enroll: async () => assert.fail('nothing is enrolled'),
  store: async (name) => assert.fail(name),
  maxBytes: 1 << 30,
  maxDurationS: 86_400,
  timeLimitMs: 600_000,
  heartbeatMs: 60_000,
});

const newJob = (name = model) => ({
  account: 'a',
  keyId: 'key_a',
  task: 'predict' as const,
  source: '{"object":"folder/analysis/key"}',
  parameters: JSON.stringify({
    ...{ model: name, threshold: 0.5, silenceThresholdPercent: 80 },
    detail: 'stretches',
  }),
});

const inSteps: Analyse = (request) => analyser.analyseRecording({ ...request, stepS: 10 });

/** All of its result but the time that it took. */
const resultOf = (text: string | undefined) => ({ ...JSON.parse(text ?? '{}'), processing_time: 0 });

onEachQueue('a job makes room for others within its second look, and goes on there', async (open) => {
  const { jobs, workTable } = await open();
  const { job: whole } = await jobs.create(newJob());
  const parts = partsOf(workTable, inSteps);
  assert.equal((await runJob(await taken(workTable), parts, unhurried())).outcome, 'succeeded');

  const { job } = await jobs.create(newJob());
  const begun: (number | undefined)[] = [];
  for (let outcome = ''; outcome !== 'succeeded'; ) {
    // Others wait as soon as the first look is over.
    let isSecond = false;
    const slice = new TurnSlice({ sliceMs: 0, overdueMs: 1e9, isWanted: () => isSecond, clockMs: () => 0 });
    const turn = await runJob(
      await taken(workTable),
      partsOf(workTable, async function* (request) {
        if (request.cursor?.closer) begun.push(request.cursor.closer.lastStartS);
        for await (const step of inSteps(request)) {
          isSecond = !step.isLast && step.cursor.closer !== undefined;
          yield step;
        }
      }),
      { ...unhurried(), slice },
    );
    outcome = turn.outcome;
    assert.ok(outcome === 'given back' || outcome === 'succeeded', outcome);
  }
  // After the first look, and then further on each time.
  assert.ok(begun.length >= 3, `${begun}`);
  assert.equal(begun[0], undefined);
  const later = begun.slice(1).map(Number);
  assert.deepEqual(
    later,
    later.toSorted((a, b) => a - b),
  );
  const [expected, found] = [await jobs.get('a', whole.id), await jobs.get('a', job.id)];
  const { prediction_id: _, ...once } = resultOf(expected?.result);
  const { prediction_id: __, ...inTurns } = resultOf(found?.result);
  assert.deepEqual(inTurns, once);
  assert.equal(once.contains_generated, true);
});

onEachQueue('a second look that fails for a moment is tried again without the first', async (open) => {
  const { jobs, workTable } = await open();
  const { job } = await jobs.create(newJob());
  const first = await runJob(
    await taken(workTable),
    partsOf(workTable, async function* (request) {
      for await (const step of inSteps(request)) {
        yield step;
        if (!step.isLast && step.cursor.closer !== undefined) throw new Error('A thread died.');
      }
    }),
    unhurried(),
  );
  assert.equal(first.outcome, 'retried');
  let firstLook = 0;
  const second = await runJob(
    await taken(workTable),
    partsOf(workTable, async function* (request) {
      for await (const step of inSteps(request)) {
        firstLook += step.windows.length;
        yield step;
      }
    }),
    unhurried(),
  );
  assert.deepEqual([second.outcome, firstLook], ['succeeded', 0]);
  assert.equal(resultOf((await jobs.get('a', job.id))?.result).contains_generated, true);
});

onEachQueue('a missed deadline of the second look costs the stretches, not the verdict', async (open) => {
  const { jobs, workTable } = await open();
  const { job } = await jobs.create(newJob('m'));
  const { windows, closerWindows = [] } = splicedAnalysis;
  const turn = await runJob(
    await taken(workTable),
    partsOf(workTable, async function* ({ source }) {
      const end = recordingEnd('m');
      assert.ok(end.isLast);
      const cursor = {
        ...{ version: 3 as const, source: source.identity, scoreFingerprint: end.scoreFingerprint },
        ...{ silenceThresholdPercent: 80, audioS: 60 },
      };
      yield { isLast: false, windows, skipped: [], cursor };
      // Not all of them.
      yield { isLast: false, windows: [], skipped: [], closerWindows, cursor };
      yield { ...end, windows: [], skipped: [], summary: { ...end.summary, missedLook: 'ANALYSIS_TIMEOUT' } };
    }),
    unhurried(),
  );
  assert.equal(turn.outcome, 'succeeded');
  const result = resultOf((await jobs.get('a', job.id))?.result);
  assert.deepEqual(
    [result.global.result, result.global.reason, result.segments.length],
    ['bonafide', null, 12],
  );
  assert.ok(!('stretches' in result) && !('contains_generated' in result));
  assert.match(result.warnings.join(), /^Stretches are not known: /);
});
