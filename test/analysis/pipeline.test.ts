// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import type { Analyser, Analysis, AnalysisRequest } from '../../src/analysis/analyser/analyser.js';
import { UploadArena } from '../../src/analysis/memory/arena.js';
import { type PipelineConfig, startPipeline } from '../../src/analysis/pipeline/pipeline.js';
import { loadAddon } from '../../src/base/addon/addon.js';
import { packageDir } from '../../src/base/config/package-dir.js';
import type { ServiceError } from '../../src/base/errors/service-error.js';
import { monoWav, repeated } from '../support/wav.js';

const fixture = (name: string) => readFile(path.join(packageDir, 'test/fixtures', name));

const config: PipelineConfig = {
  modelsDir: path.join(packageDir, 'models'),
  device: 'cpu',
  prepareThreads: 2,
  scoringThreads: Math.min(2, availableParallelism()),
  maxBatchWindows: 1,
  batchWaitMs: 0,
  queueTimeoutMs: 30_000,
  analysisTimeoutMs: 60_000,
};

const arena = new UploadArena(64 * 1024 * 1024);
let analyser: Analyser;
let speech: Uint8Array;
let longSpeech: Uint8Array;

before(async () => {
  analyser = await startPipeline(config, arena.buffer);
  speech = await fixture('human-lj-a.flac');
  const { samples, sampleRateHz } = loadAddon().decode(speech);
  assert.equal(sampleRateHz, 16000);
  longSpeech = monoWav(repeated(samples, 16000 * 5 * 80), 16000);
});

after(async () => {
  await analyser.close();
});

async function analyse(
  file: Uint8Array,
  overrides: Partial<AnalysisRequest> = {},
  by: Analyser = analyser,
): Promise<Analysis> {
  const region = arena.reserve(file.length);
  assert.ok(region, 'the arena is large enough for this test');
  arena.bytes.set(file, region.offset);
  try {
    return await by.analyse({
      region: { offset: region.offset, length: file.length },
      model: by.status().models[0] as string,
      silenceThresholdPercent: 80,
      minDurationS: 1,
      maxDurationS: 600,
      signal: new AbortController().signal,
      ...overrides,
    });
  } finally {
    arena.release(region);
  }
}

function rejectsWith(promise: Promise<unknown>, key: string, pattern = /./): Promise<void> {
  return assert.rejects(promise, (error: ServiceError) => {
    assert.equal(error.key, key, String(error));
    assert.match(error.message, pattern);
    return true;
  });
}

test('what is not audio is refused', async () => {
  await rejectsWith(
    analyse(Buffer.from('<!doctype html><title>no audio</title>')),
    'UNSUPPORTED_FORMAT',
    /^The file is not in a supported format: it looks like an HTML page\. Supported formats: WAV, /,
  );
  await rejectsWith(
    analyse(Buffer.alloc(10_000)),
    'UNSUPPORTED_FORMAT',
    /supported format: it begins like none of them\. Supported formats: WAV, /,
  );
});

test('an unknown model is refused by name', async () => {
  await rejectsWith(analyse(speech, { model: 'apollo-0' }), 'FIELD_INVALID', /model.*apollo-0/);
});

test('too short and too long audio is refused with the measured and the allowed duration', async () => {
  const samples = repeated(Float32Array.of(0.1, -0.1), 8000);
  await rejectsWith(analyse(monoWav(samples, 16000)), 'AUDIO_TOO_SHORT', /0\.5 s.*1 s/);
  await rejectsWith(analyse(speech, { maxDurationS: 2 }), 'AUDIO_TOO_LONG', /at most 2 s/);
});

test('an analysis that is aborted before it starts does no work', async () => {
  const reason = new Error('gone');
  await assert.rejects(analyse(speech, { signal: AbortSignal.abort(reason) }), reason);
});

test('an analysis that is aborted on its way rejects with the reason, and others do not notice', async () => {
  const alone = await analyse(speech);
  const abort = new AbortController();
  const reason = new Error('gone');
  const abandoned = analyse(longSpeech, { signal: abort.signal, onProgress: () => abort.abort(reason) });
  const [other] = await Promise.all([analyse(speech), assert.rejects(abandoned, reason)]);
  assert.deepEqual(other.windows, alone.windows);
});

test('waiting longer than the queue limit is refused, and the queue goes on', async () => {
  const single = await startPipeline(
    { ...config, prepareThreads: 1, scoringThreads: 1, queueTimeoutMs: 1 },
    arena.buffer,
  );
  try {
    const first = analyse(longSpeech, {}, single);
    await rejectsWith(analyse(speech, {}, single), 'QUEUE_DEADLINE');
    assert.equal((await first).windows.length, 80);
  } finally {
    await single.close();
  }
});

test('a long file waits for its own kind only, and as long as it says', async () => {
  const first = analyse(longSpeech, { longTimeoutMs: 60_000 });
  await rejectsWith(analyse(speech, { longTimeoutMs: 1 }), 'QUEUE_DEADLINE', /longer than 1 ms/);
  await analyse(speech);
  assert.equal((await first).windows.length, 80);
});

test('an analysis over its time limit ends', async () => {
  const hasty = await startPipeline({ ...config, scoringThreads: 1, analysisTimeoutMs: 50 }, arena.buffer);
  try {
    await rejectsWith(analyse(longSpeech, {}, hasty), 'ANALYSIS_TIMEOUT');
  } finally {
    await hasty.close();
  }
});

test('closing rejects what is still running', async () => {
  const closing = await startPipeline(config, arena.buffer);
  const running = rejectsWith(analyse(longSpeech, {}, closing), 'STOPPING');
  await closing.close();
  await running;
  await rejectsWith(analyse(speech, {}, closing), 'STOPPING');
});

test('a recording gives windows, scores between 0 and 1, and stage times', async () => {
  const analysis = await analyse(speech);
  assert.ok(analysis.durationS > 5);
  assert.equal(analysis.windows[0]?.startS, 0);
  assert.equal(analysis.windows.at(-1)?.endS, analysis.durationS);
  for (const window of analysis.windows) {
    assert.equal(window.scores.length, 1);
    for (const score of window.scores) assert.ok(score >= 0 && score <= 1);
  }
  assert.ok(analysis.speechRatio > 0.5 && analysis.speechRatio <= 1);
  for (const timeMs of Object.values(analysis.timesMs)) assert.ok(timeMs >= 0);
  assert.ok(analysis.timesMs.inference > 0);
});

test('a file with more windows than there are slots is scored whole and in order', async () => {
  const analysis = await analyse(longSpeech);
  assert.deepEqual(
    analysis.windows.map((window) => window.startS),
    Array.from({ length: 80 }, (_, i) => i * 5),
  );
});

test('the same bytes give the same scores, alone or among many', async () => {
  const alone = await analyse(speech);
  const together = await Promise.all(Array.from({ length: 24 }, () => analyse(speech)));
  for (const analysis of together) assert.deepEqual(analysis.windows, alone.windows);
});

test('silence gives no window but a skipped stretch', async () => {
  const analysis = await analyse(monoWav(new Float32Array(16000 * 12), 16000));
  assert.deepEqual(analysis.windows, []);
  const windows = [
    { startS: 0, endS: 5 },
    { startS: 5, endS: 10 },
    { startS: 7, endS: 12 },
  ];
  assert.deepEqual(analysis.skipped, [{ startS: 0, endS: 12, nonSpeechPercent: 100, windows }]);
});

test('owners take turns: one that asks once does not wait for all that another has asked before', async () => {
  const single = await startPipeline(
    { ...config, prepareThreads: 1, scoringThreads: 1, maxBatchWindows: 4 },
    arena.buffer,
  );
  try {
    const ended: string[] = [];
    const ask = (owner: string) => analyse(speech, { owner }, single).then(() => ended.push(owner));
    const greedy = Array.from({ length: 60 }, () => ask('greedy'));
    await ask('b');
    // The greedy owner's analyses already under way go first: 2 have begun, and each may have a successor.
    assert.ok(ended.length < 10, `${ended.length} were answered`);
    assert.equal(ended.at(-1), 'b');
    await Promise.all(greedy);
  } finally {
    await single.close();
  }
});

test('beside a greedy owner, another one waits for few files of it each time', async () => {
  const single = await startPipeline(
    { ...config, prepareThreads: 2, scoringThreads: 1, maxBatchWindows: 4 },
    arena.buffer,
  );
  try {
    let greedyEnded = 0;
    const stop = new AbortController();
    const askAgain = async (): Promise<void> => {
      while (!stop.signal.aborted) {
        await analyse(speech, { owner: 'greedy' }, single);
        greedyEnded++;
      }
    };
    const greedy = Array.from({ length: 12 }, askAgain);
    const asked = 20;
    await analyse(speech, { owner: 'b' }, single);
    const before = greedyEnded;
    for (let i = 0; i < asked; i++) await analyse(speech, { owner: 'b' }, single);
    const waitedFor = greedyEnded - before;
    stop.abort();
    await Promise.all(greedy);
    // Three files are in progress at once, one per thread. In order of arrival, it would wait for all 12 each
    // time.
    assert.ok(waitedFor <= 3 * asked, `${waitedFor} files of the greedy one for ${asked} of the other`);
  } finally {
    await single.close();
  }
});
