// SPDX-License-Identifier: Apache-2.0
//
// Jobs with `channels=separate` give the same as a request, even if every step has another turn.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before } from 'node:test';
import type { Analyser, Analysis } from '../../src/analysis/analyser/analyser.js';
import type {
  RecordingAnalyser,
  RecordingRequest,
  RecordingStep,
} from '../../src/analysis/analyser/recording.js';
import { analyseChannels } from '../../src/analysis/analyser/separate-channels.js';
import { UploadArena } from '../../src/analysis/memory/arena.js';
import { startPipeline } from '../../src/analysis/pipeline/pipeline.js';
import { predictionBody } from '../../src/analysis/verdict/prediction.js';
import { packageDir } from '../../src/base/config/package-dir.js';
import type { Prediction } from '../../src/base/contract/prediction.js';
import type { NewJob } from '../../src/jobs/queue/job.js';
import type { JobWorkTable } from '../../src/jobs/queue/job-work-table.js';
import { type JobRunnerParts, runJob } from '../../src/jobs/work/job-runner.js';
import { UsageTable } from '../../src/state/records/usage-table.js';
import { recordingEnd } from '../support/analyser-double.js';
import { MemoryByteSource } from '../support/byte-sources.js';
import { onEachQueue } from '../support/job-queues.js';
import { ffmpegInto } from '../support/recordings.js';
import { taken } from '../support/taken-work.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { testConfig } from '../support/test-server.js';
import { unhurried } from '../support/turn-limits.js';

const fixture = (name: string): string => path.join(packageDir, 'test/fixtures', name);
const arena = new UploadArena(16 << 20);
let analyser: Analyser & RecordingAnalyser;

before(async () => {
  analyser = await startPipeline({ ...testConfig, modelsDir: path.join(packageDir, 'models') }, arena.buffer);
});
after(() => analyser.close());

const jobOf = (model: string): NewJob => ({
  account: 'a',
  keyId: 'key_a',
  task: 'predict',
  source: '{"object":"folder/analysis/key"}',
  parameters: JSON.stringify({
    model,
    threshold: 0.5,
    silenceThresholdPercent: 80,
    predictionId: 'mine',
    separatesChannels: true,
    detail: 'stretches',
  }),
});

const partsOf = (
  workTable: JobWorkTable,
  file: Uint8Array,
  analyse: RecordingAnalyser['analyseRecording'],
): JobRunnerParts => ({
  workTable,
  analyser: { analyseRecording: analyse },
  openSource: async () => new MemoryByteSource(file),
  enroll: async () => Promise.reject(new Error('Nothing is enrolled here.')),
  store: async (name) => assert.fail(name),
  maxBytes: 1 << 30,
  maxDurationS: 86_400,
  timeLimitMs: 600_000,
  heartbeatMs: 60_000,
});

/** In one go, from memory. */
async function direct(
  file: Uint8Array,
  model: string,
): Promise<{ mix: Analysis; channels: readonly Analysis[] }> {
  const region = arena.reserve(file.length);
  assert.ok(region);
  try {
    arena.bytes.set(file, region.offset);
    const limits = { silenceThresholdPercent: 80, minDurationS: 1, maxDurationS: 600 };
    const request = { ...limits, region, model, signal: new AbortController().signal };
    const mix = await analyser.analyse(request);
    return { mix, channels: await analyseChannels(analyser, request, mix) };
  } finally {
    arena.release(region);
  }
}

/** The work stops after each saved step, and another turn continues. */
async function inTurns(workTable: JobWorkTable, file: Uint8Array) {
  const channels: (number | undefined)[] = [];
  const audioS: number[] = [];
  for (;;) {
    const stopping = new AbortController();
    const work = await taken(workTable);
    audioS.push(work.job.audioS);
    const turn = await runJob(
      work,
      partsOf(workTable, file, async function* (request) {
        channels.push(request.channel);
        for await (const step of analyser.analyseRecording({ ...request, stepS: 10 })) {
          yield step;
          stopping.abort(new Error('The worker stops.'));
        }
      }),
      unhurried(stopping.signal),
    );
    if (turn.outcome !== 'given back') return { turn, channels, audioS };
  }
}

onEachQueue('each channel is answered as by a request, whatever the number of turns', async (open, t) => {
  const { jobs, workTable, database } = await open();
  const graph =
    '[0:a]aresample=16000,aloop=-1:200000,atrim=0:32[a];[1:a]aresample=16000,aloop=-1:200000,atrim=0:32[b];[a][b]join=inputs=2:channel_layout=stereo';
  const second = ['-i', fixture('ai-kokoro.flac'), '-filter_complex', graph];
  const ffmpeg = ffmpegInto(temporaryFolder(t));
  const file = await readFile(ffmpeg(fixture('human-lj-a.flac'), [...second, 'call.flac']));
  const model = analyser.status().detectors[0]?.id ?? assert.fail();
  const { job } = await jobs.create(jobOf(model));
  const { turn, channels: begun, audioS } = await inTurns(workTable, file);
  assert.equal(turn.outcome, 'succeeded');
  const { mix, channels } = await direct(file, model);
  const { processing_time: _, ...expected } = predictionBody(
    mix,
    {
      model,
      predictionId: 'mine',
      threshold: 0.5,
      silenceThresholdPercent: 80,
      channels,
      detail: 'stretches',
    },
    0,
  );
  const done = await jobs.get('a', job.id);
  const { processing_time: __, ...result } = JSON.parse(done?.result ?? '{}') as Prediction;
  assert.deepEqual(result, expected);
  assert.deepEqual([...new Set(begun)], [undefined, 0, 1]);
  // At least one more for each pass but the last, begun in vain by the turn before.
  assert.ok(begun.length >= 5, `${begun}`);
  // Each channel counts, as for a request.
  assert.equal(done?.audioS, 2 * mix.durationS);
  const [usage] = await new UsageTable(database).read();
  const windows = [mix, ...channels].reduce((sum, each) => sum + each.windows.length, 0);
  assert.deepEqual([usage?.audioS, usage?.windows], [64, windows]);
  assert.deepEqual(
    audioS,
    audioS.toSorted((a, b) => a - b),
    'progress never goes back',
  );
});

/** The only step of a recording with this many channels. */
const ofChannels = (channels: number) =>
  async function* ({ model }: RecordingRequest): AsyncGenerator<RecordingStep, void, void> {
    const end = recordingEnd(model);
    assert.ok(end.isLast);
    yield { ...end, summary: { ...end.summary, channels } };
  };

onEachQueue('a single channel is analysed once, and more than eight are refused', async (open) => {
  const { jobs, workTable } = await open();
  const { job: mono } = await jobs.create(jobOf('m'));
  let turns = 0;
  const one = partsOf(workTable, Buffer.from('x'), (request) => {
    turns++;
    return ofChannels(1)(request);
  });
  assert.equal((await runJob(await taken(workTable), one, unhurried())).outcome, 'succeeded');
  const { channels, segments } = JSON.parse((await jobs.get('a', mono.id))?.result ?? '{}') as Prediction;
  assert.deepEqual([turns, channels?.length, channels?.[0]?.segments], [1, 1, segments]);
  const { job: many } = await jobs.create(jobOf('m'));
  const nine = partsOf(workTable, Buffer.from('x'), ofChannels(9));
  assert.equal((await runJob(await taken(workTable), nine, unhurried())).outcome, 'failed');
  const failed = await jobs.get('a', many.id);
  assert.deepEqual([failed?.failure?.code, failed?.attempts], ['CHANNELS_TOO_MANY', 1]);
});
