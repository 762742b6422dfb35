// SPDX-License-Identifier: Apache-2.0
//
// Recordings that are read in ranges: the same windows and scores as from memory, whatever the number of processes
// involved.
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';
import type { Analyser, Analysis, ScoredWindow } from '../../src/analysis/analyser/analyser.js';
import {
  CursorRefused,
  type RecordingAnalyser,
  type RecordingCursor,
  type RecordingPart,
  type RecordingRequest,
  type RecordingStep,
} from '../../src/analysis/analyser/recording.js';
import { UploadArena } from '../../src/analysis/memory/arena.js';
import { type PipelineConfig, startPipeline } from '../../src/analysis/pipeline/pipeline.js';
import { RunningVerdict, verdictOf } from '../../src/analysis/verdict/verdict.js';
import { type AudioRegion, loadAddon, type SkippedStretch } from '../../src/base/addon/addon.js';
import { packageDir } from '../../src/base/config/package-dir.js';
import { ServiceError } from '../../src/base/errors/service-error.js';
import { MemoryByteSource } from '../support/byte-sources.js';
import { ffmpegInto } from '../support/recordings.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { monoWav, repeated } from '../support/wav.js';

const RATE_HZ = 16000;
const config: PipelineConfig = {
  modelsDir: path.join(packageDir, 'models'),
  device: 'cpu',
  prepareThreads: 1,
  scoringThreads: 2,
  maxBatchWindows: 1,
  batchWaitMs: 0,
  queueTimeoutMs: 60_000,
  analysisTimeoutMs: 120_000,
};

const arena = new UploadArena(16 << 20);
let analyser: Analyser & RecordingAnalyser;
let model: string;
let speech: Float32Array;

before(async () => {
  analyser = await startPipeline(config, arena.buffer);
  model = analyser.status().detectors[0]?.id as string;
  const clip = await readFile(path.join(packageDir, 'test/fixtures/human-lj-a.flac'));
  speech = loadAddon().decode(clip).samples;
});

after(() => analyser.close());

const common = { silenceThresholdPercent: 80, minDurationS: 1, maxDurationS: 86_400 };

async function inOneGo(file: Uint8Array, part: AudioRegion = {}): Promise<Analysis> {
  const region = arena.reserve(file.length);
  assert.ok(region);
  arena.bytes.set(file, region.offset);
  const { signal } = new AbortController();
  return analyser.analyse({ region, model, ...common, ...part, signal }).finally(() => arena.release(region));
}

const requestFor = (file: Uint8Array, overrides: Partial<RecordingRequest> = {}): RecordingRequest => ({
  source: new MemoryByteSource(file),
  model,
  ...common,
  timeLimitMs: 120_000,
  stepS: 1,
  signal: new AbortController().signal,
  ...overrides,
});

async function stepsOf(request: RecordingRequest): Promise<RecordingStep[]> {
  const steps: RecordingStep[] = [];
  for await (const step of analyser.analyseRecording(request)) steps.push(step);
  return steps;
}

const cursorsOf = (steps: readonly RecordingStep[]): RecordingCursor[] =>
  steps.filter((step): step is RecordingPart => !step.isLast).map(({ cursor }) => cursor);

/** The final state of a caller that saves every step. */
function joined(steps: readonly RecordingStep[]) {
  const windows: ScoredWindow[] = [];
  const skipped: SkippedStretch[] = [];
  for (const step of steps) {
    windows.push(...step.windows);
    skipped.push(...step.skipped);
  }
  const last = steps.at(-1);
  assert.ok(last?.isLast, 'the last step says so');
  const { modelId, closerWindows } = last;
  return { ...last.summary, modelId, windows, skipped, ...(closerWindows && { closerWindows }) };
}

function expected({ timesMs, damagedAtS, ...analysis }: Analysis) {
  return analysis;
}

// Speech, a long pause, speech again: skipped windows, and so stretches on both sides of steps.
function withPause(seconds: number): Float32Array {
  const samples = repeated(speech, Math.round(seconds * RATE_HZ));
  samples.fill(0, 12 * RATE_HZ, 31 * RATE_HZ);
  return samples;
}

test('a region gives the same as from memory, and a cursor goes on in it', async () => {
  const part = { startS: 8.25, endS: 44.5 };
  const file = monoWav(withPause(47.3), RATE_HZ);
  const whole = await inOneGo(file, part);
  const steps = await stepsOf(requestFor(file, part));
  assert.deepEqual(joined(steps), expected(whole));
  assert.equal(whole.windows[0]?.startS, 8.25);
  const [cursor] = cursorsOf(steps);
  assert.ok(cursor && cursor.audioS < 36.25);
  const rest = await stepsOf(requestFor(file, { ...part, cursor }));
  assert.deepEqual(joined([steps[0] as RecordingStep, ...rest]).windows, whole.windows);
  await assert.rejects(stepsOf(requestFor(file, { cursor })), CursorRefused);
  // From a server that saved another state.
  const older = { ...(cursor as RecordingCursor), version: 1 as never };
  await assert.rejects(stepsOf(requestFor(file, { ...part, cursor: older })), CursorRefused);
});

for (const seconds of [3.2, 5, 10.05, 47.3, 50.0999]) {
  test(`${seconds} s of WAV give the same as from memory`, async () => {
    const file = monoWav(withPause(seconds), RATE_HZ);
    assert.deepEqual(joined(await stepsOf(requestFor(file))), expected(await inOneGo(file)));
  });
}

test('compressed recordings give the same, from each of their steps on', async (t) => {
  const folder = temporaryFolder(t);
  const convert = ffmpegInto(folder);
  const wav = path.join(folder, 'source.wav');
  await writeFile(wav, monoWav(withPause(48), RATE_HZ));
  const formats = [
    ['a.flac', '-ar', '44100'],
    ['a.mp3', '-ar', '44100', '-b:a', '64k'],
    ['a.m4a', '-ar', '48000'],
    ['a.opus', '-b:a', '32k'],
  ];
  for (const [name = '', ...options] of formats) {
    const file = await readFile(convert(wav, [...options, name]));
    const whole = await stepsOf(requestFor(file));
    assert.deepEqual(joined(whole), expected(await inOneGo(file)), name);
    const [cursor] = cursorsOf(whole);
    assert.ok(cursor, name);
    const rest = await stepsOf(requestFor(file, { cursor }));
    assert.deepEqual(joined([...whole.slice(0, 1), ...rest]), joined(whole), name);
  }
});

test('another process goes on from every step of a WAV file', async () => {
  const file = monoWav(withPause(61), RATE_HZ);
  const whole = await stepsOf(requestFor(file));
  const cursors = cursorsOf(whole);
  assert.ok(cursors.length >= 3, `${cursors.length} steps`);
  for (const [i, cursor] of cursors.entries()) {
    // As if from a database.
    const saved = JSON.parse(JSON.stringify(cursor)) as RecordingCursor;
    assert.ok(JSON.stringify(saved).length < 60_000);
    const rest = await stepsOf(requestFor(file, { cursor: saved }));
    assert.deepEqual(joined([...whole.slice(0, i + 1), ...rest]), joined(whole));
  }
});

test('the verdict is the same with nothing kept but sums', async () => {
  const file = monoWav(withPause(61), RATE_HZ);
  const whole = await inOneGo(file);
  const { segments, stretches: _, ...global } = verdictOf(whole, 0.3, 80);
  let sums = new RunningVerdict(0.3).sums;
  const seen: unknown[] = [];
  for await (const step of analyser.analyseRecording(requestFor(file))) {
    const verdict = new RunningVerdict(0.3, JSON.parse(JSON.stringify(sums)));
    for (const window of step.windows) seen.push(verdict.add(window));
    sums = verdict.sums;
    if (step.isLast) assert.deepEqual(verdict.finish(step.summary, 80), global);
  }
  assert.deepEqual(seen, segments);
});

const rejectsWith = (request: RecordingRequest, key: string) =>
  assert.rejects(stepsOf(request), (error: ServiceError) => {
    assert.equal(error.key, key, String(error));
    return true;
  });

test('bad recordings end with the error that they get from memory', async () => {
  await rejectsWith(requestFor(Buffer.from('%PDF-1.4 no audio at all')), 'UNSUPPORTED_FORMAT');
  await rejectsWith(requestFor(new Uint8Array(0)), 'UNSUPPORTED_FORMAT');
  await rejectsWith(requestFor(monoWav(speech.subarray(0, 8000), RATE_HZ)), 'AUDIO_TOO_SHORT');
  const long = monoWav(withPause(40), RATE_HZ);
  await rejectsWith(requestFor(long, { maxDurationS: 30 }), 'AUDIO_TOO_LONG');
});

test('a range that cannot be had ends the recording with its error, after the steps before it', async () => {
  const source = new MemoryByteSource(monoWav(repeated(speech, 120 * RATE_HZ), RATE_HZ));
  source.beforeRead = (offset) => {
    if (offset >= 3 << 20) throw new ServiceError('STORAGE_UNAVAILABLE');
  };
  const steps: RecordingStep[] = [];
  const work = (async () => {
    for await (const step of analyser.analyseRecording(requestFor(new Uint8Array(0), { source })))
      steps.push(step);
  })();
  await assert.rejects(work, (error: ServiceError) => error.key === 'STORAGE_UNAVAILABLE');
  assert.ok(steps.length > 0);
  // The analysis continues from the saved state after the storage recovers.
  source.beforeRead = () => {};
  const [cursor] = cursorsOf(steps).slice(-1);
  const rest = await stepsOf(requestFor(new Uint8Array(0), { source, cursor }));
  assert.equal(joined([...steps, ...rest]).windows.length, 24);
});

test('an abort ends the wait for a range that never comes', async () => {
  const stop = new AbortController();
  const source = new MemoryByteSource(monoWav(repeated(speech, 40 * RATE_HZ), RATE_HZ));
  source.beforeRead = (offset, _length, signal) => {
    if (offset === 0) return;
    setImmediate(() => stop.abort(new Error('gone')));
    return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  };
  await assert.rejects(stepsOf(requestFor(new Uint8Array(0), { source, signal: stop.signal })), /gone/);
  // Its thread takes the next one.
  await stepsOf(requestFor(monoWav(speech, RATE_HZ)));
});

test('a deadline ends it as well', async () => {
  const source = new MemoryByteSource(monoWav(repeated(speech, 40 * RATE_HZ), RATE_HZ));
  source.beforeRead = (_offset, _length, signal) =>
    new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  await rejectsWith(requestFor(new Uint8Array(0), { source, timeLimitMs: 200 }), 'ANALYSIS_TIMEOUT');
});

// A source that is stopped may report anything or nothing; this must not change the outcome of the recording.
const sourcesThatStop: [what: string, read: (signal: AbortSignal) => Promise<never>][] = [
  ['never answers', () => new Promise(() => {})],
  [
    'answers with a failure of its own',
    (signal) =>
      new Promise((_, reject) =>
        signal.addEventListener('abort', () => reject(new ServiceError('STORAGE_UNAVAILABLE'))),
      ),
  ],
];
for (const [what, read] of sourcesThatStop) {
  const stalling = (): MemoryByteSource => {
    const source = new MemoryByteSource(monoWav(repeated(speech, 40 * RATE_HZ), RATE_HZ));
    source.beforeRead = (_offset, _length, signal) => read(signal);
    return source;
  };

  test(`a source that ${what} leaves the deadline's error as it is`, async () => {
    for (let i = 0; i < 10; i++)
      await rejectsWith(
        requestFor(new Uint8Array(0), { source: stalling(), timeLimitMs: 20 }),
        'ANALYSIS_TIMEOUT',
      );
  });

  test(`a source that ${what} leaves the caller's reason as it is`, async () => {
    const stop = new AbortController();
    const source = stalling();
    source.beforeRead = (_offset, _length, signal) => {
      setImmediate(() => stop.abort(new Error('gone')));
      return read(signal);
    };
    await assert.rejects(stepsOf(requestFor(new Uint8Array(0), { source, signal: stop.signal })), /gone/);
  });
}

test('a caller that leaves early leaves nothing behind', async () => {
  const file = monoWav(repeated(speech, 100 * RATE_HZ), RATE_HZ);
  for await (const step of analyser.analyseRecording(requestFor(file))) {
    assert.ok(!step.isLast);
    break;
  }
  const again = await stepsOf(requestFor(file));
  assert.equal(joined(again).windows.length, 20);
});

test('a cursor of another recording, model or threshold is refused', async () => {
  const file = monoWav(repeated(speech, 40 * RATE_HZ), RATE_HZ);
  const [cursor] = cursorsOf(await stepsOf(requestFor(file)));
  assert.ok(cursor);
  const others: Partial<RecordingRequest>[] = [
    { cursor, source: new MemoryByteSource(file, 'another') },
    { cursor, silenceThresholdPercent: 50 },
    { cursor: { ...cursor, scoreFingerprint: '0'.repeat(64) } },
    { cursor, channel: 0 },
    { cursor: { ...cursor, channel: 0 } },
  ];
  for (const other of others) await assert.rejects(stepsOf(requestFor(file, other)), CursorRefused);
  const damaged = { ...cursor, checkpoint: cursor.checkpoint?.slice(0, 400) ?? assert.fail() };
  await rejectsWith(requestFor(file, { cursor: damaged }), 'INTERNAL');
});
