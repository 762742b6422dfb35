// SPDX-License-Identifier: Apache-2.0
//
// The second look: which windows are scored again, and that files, recordings in ranges and live audio get the same.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, describe, type TestContext, test } from 'node:test';
import type { Analysis, AnalysisProgress } from '../../src/analysis/analyser/analyser.js';
import type { LiveEvent } from '../../src/analysis/analyser/live.js';
import type { FullAnalyser, RecordingRequest, RecordingStep } from '../../src/analysis/analyser/recording.js';
import { UploadArena } from '../../src/analysis/memory/arena.js';
import { startPipeline } from '../../src/analysis/pipeline/pipeline.js';
import { findContrasts } from '../../src/analysis/stretches/contrasts.js';
import { SecondLook } from '../../src/analysis/stretches/second-look.js';
import { loadAddon } from '../../src/base/addon/addon.js';
import { packageDir } from '../../src/base/config/package-dir.js';
import { MemoryByteSource } from '../support/byte-sources.js';
import { testConfig } from '../support/test-server.js';
import { until } from '../support/until.js';
import { monoWav } from '../support/wav.js';

const RATE_HZ = 16_000;
/** Of one person, read from one book. */
const HUMAN = ['human-lj-a', 'human-lj-b'];
const COPIES = 5;
const SENTENCE_S = 5;

const windowAt = (index: number, logOdds: number) => ({
  startS: 5 * index,
  endS: 5 * index + 5,
  scores: [1 / (1 + Math.exp(-logOdds))],
});

describe('windows of the second look', () => {
  test('surround a window that stands out, and nothing else', () => {
    const look = new SecondLook();
    for (let i = 0; i < 60; i++) {
      const wanted = look.add(windowAt(i, i === 30 ? 2 : -3));
      if (i !== 30) assert.deepEqual(wanted, [], `window ${i}`);
    }
    assert.deepEqual(
      look.windowsUntil(300),
      Array.from({ length: 9 }, (_, i) => ({ startS: 147 + i, endS: 149.5 + i })),
    );
  });

  test('begin with the part that is analysed, and end with it', () => {
    const look = new SecondLook(8.25);
    look.add({ startS: 8.25, endS: 13.25, scores: [0.99] });
    const windows = look.windowsUntil(13.25);
    assert.deepEqual(windows[0], { startS: 8.25, endS: 10.75 });
    assert.deepEqual(windows.at(-1), { startS: 10.25, endS: 12.75 });
  });

  test('are none in a voice that sounds generated throughout, once that is known', () => {
    const look = new SecondLook();
    const wanted = Array.from({ length: 200 }, (_, i) => look.add(windowAt(i, 4 + Math.sin(i))).length);
    assert.ok(wanted.slice(0, 5).some((count) => count > 0));
    assert.equal(
      wanted.slice(20).reduce((sum, count) => sum + count, 0),
      0,
    );
  });

  test('are few, however restless the recording', () => {
    for (const hours of [0.05, 1, 6]) {
      const look = new SecondLook();
      const windows = hours * 720;
      for (let i = 0; i < windows; i++) look.add(windowAt(i, i % 3 === 0 ? -8 + (16 * i) / windows : -8));
      assert.ok(look.windowsUntil(Number.POSITIVE_INFINITY).length <= 45 + windows / 4, `${hours} hours`);
    }
  });

  test('are the same if another process goes on, at any point', () => {
    const all = Array.from({ length: 80 }, (_, i) => windowAt(i, 3 * Math.sin(i * i)));
    const whole = new SecondLook();
    for (const window of all) whole.add(window);
    assert.ok(whole.windowsUntil(400).length > 0);
    for (let split = 0; split <= all.length; split += 7) {
      const first = new SecondLook();
      for (const window of all.slice(0, split)) first.add(window);
      const second = new SecondLook(0, JSON.parse(JSON.stringify(first.state)));
      for (const window of all.slice(split)) second.add(window);
      assert.deepEqual(second.windowsUntil(400), whole.windowsUntil(400), `after ${split} windows`);
    }
  });
});

describe('a generated sentence in human speech', () => {
  const arena = new UploadArena(32 << 20);
  const common = { silenceThresholdPercent: 80, minDurationS: 1, maxDurationS: 3600 };
  const modelsDir = path.join(packageDir, 'models');
  let analyser: FullAnalyser;
  let model: string;
  let human: Float32Array;
  let spliced: Float32Array;
  const startS = 31.3;

  const samplesOf = async (name: string): Promise<Float32Array> => {
    const { samples, sampleRateHz } = loadAddon().decode(
      await readFile(path.join(packageDir, `test/fixtures/${name}.flac`)),
    );
    return new (loadAddon().Resampler)(sampleRateHz, RATE_HZ).convert(samples);
  };

  before(async () => {
    analyser = await startPipeline({ ...testConfig, modelsDir }, arena.buffer);
    model = analyser.status().detectors[0]?.id as string;
    const clips = await Promise.all(HUMAN.map(samplesOf));
    human = Float32Array.from(
      Array.from({ length: COPIES }, () => clips.flatMap((clip) => [...clip])).flat(),
    );
    spliced = human.slice();
    const sentence = await samplesOf('ai-kokoro');
    spliced.set(sentence.subarray(0, SENTENCE_S * RATE_HZ), startS * RATE_HZ);
  });
  after(() => analyser.close());

  async function ofFile(samples: Float32Array, part = {}): Promise<Analysis> {
    const file = monoWav(samples, RATE_HZ);
    const region = arena.reserve(file.length);
    assert.ok(region);
    arena.bytes.set(file, region.offset);
    const { signal } = new AbortController();
    return analyser
      .analyse({ region, model, ...common, ...part, signal })
      .finally(() => arena.release(region));
  }

  const requestFor = (samples: Float32Array): RecordingRequest => ({
    source: new MemoryByteSource(monoWav(samples, RATE_HZ)),
    ...{ model, ...common, timeLimitMs: 120_000, stepS: 10 },
    signal: new AbortController().signal,
  });

  async function stepsOf(request: RecordingRequest): Promise<RecordingStep[]> {
    const steps: RecordingStep[] = [];
    for await (const step of analyser.analyseRecording(request)) steps.push(JSON.parse(JSON.stringify(step)));
    return steps;
  }

  const closerOf = (steps: readonly RecordingStep[]) =>
    steps.flatMap(({ closerWindows = [] }) => closerWindows);

  async function ofLive(samples: Float32Array, pieceS: number) {
    const events: LiveEvent[] = [];
    const live = analyser.openLive({
      format: { encoding: 'pcm16', sampleRateHz: RATE_HZ, channels: 1, preSkip: 0 },
      ...{ model, ...common, owner: 'a' },
      onEvent: (event) => void events.push(event),
    });
    const data = monoWav(samples, RATE_HZ).subarray(44);
    const bytes = 2 * Math.round(pieceS * RATE_HZ);
    for (let at = 0; at < data.length; at += bytes)
      live.push(data.slice(at, at + bytes), Math.min(bytes, data.length - at) / 2 / RATE_HZ);
    live.finish();
    await until(() => ['end', 'failed'].includes(events.at(-1)?.kind ?? ''));
    const end = events.at(-1);
    assert.ok(end?.kind === 'end', String(end?.kind === 'failed' && end.reason));
    return end;
  }

  test('is found, and in the speech alone nothing is', async () => {
    const [contrast, ...others] = findContrasts(await ofFile(spliced));
    assert.deepEqual(others, []);
    assert.ok(contrast);
    assert.ok(Math.abs(contrast.startS - startS) <= 1, `${contrast.startS}`);
    assert.ok(Math.abs(contrast.endS - startS - SENTENCE_S) <= 1, `${contrast.endS}`);
    assert.ok(contrast.score > 0.5);
    assert.deepEqual(findContrasts(await ofFile(human)), []);
  });

  test('gets the same second look in a recording that is read in ranges, and after each of its cursors', async () => {
    const { closerWindows, windows } = await ofFile(spliced);
    assert.ok(closerWindows && closerWindows.length > 5);
    const steps = await stepsOf(requestFor(spliced));
    assert.deepEqual(closerOf(steps), closerWindows);
    // The second look has steps of its own.
    const ofSecond = steps.filter((step) => !step.isLast && step.cursor.closer !== undefined);
    assert.ok(ofSecond.length > 2 && ofSecond.length < steps.length - 2);
    for (const [i, step] of steps.entries()) {
      if (step.isLast) continue;
      const { cursor } = step;
      const all = [...steps.slice(0, i + 1), ...(await stepsOf({ ...requestFor(spliced), cursor }))];
      assert.deepEqual(closerOf(all), closerWindows, `after ${i} steps`);
      assert.deepEqual(
        all.flatMap((each) => each.windows),
        windows,
        `after ${i} steps`,
      );
      const [end, ofWhole] = [all.at(-1), steps.at(-1)];
      assert.ok(end?.isLast && ofWhole?.isLast);
      assert.deepEqual(end.summary, ofWhole.summary);
    }
  });

  /** The end of a recording during which something happens between both looks. */
  async function afterFirstLook(
    ofRecording: FullAnalyser,
    signal: AbortSignal,
    happens: () => void | Promise<void>,
  ) {
    for await (const step of ofRecording.analyseRecording({ ...requestFor(spliced), signal }))
      if (!step.isLast && step.cursor.closer !== undefined) await happens();
  }

  test('is not looked at again after an abort, or a close, while the first verdict is saved', async () => {
    const stop = new AbortController();
    const aborted = afterFirstLook(analyser, stop.signal, () => stop.abort(new Error('gone')));
    await assert.rejects(aborted, /gone/);
    const another = await startPipeline({ ...testConfig, modelsDir }, arena.buffer);
    const closed = afterFirstLook(another, new AbortController().signal, () => another.close());
    await assert.rejects(closed, { key: 'STOPPING' });
  });

  test('keeps the verdict if a second look of a recording misses its deadline', async () => {
    const steps = await stepsOf(requestFor(spliced));
    const first = steps.find((step) => !step.isLast && step.cursor.closer !== undefined);
    assert.ok(first && !first.isLast);
    const source = new MemoryByteSource(monoWav(spliced, RATE_HZ));
    const stalled = { ...requestFor(spliced), cursor: first.cursor, timeLimitMs: 50 };
    const [end, ...others] = await stepsOf({
      ...stalled,
      source: {
        bytes: source.bytes,
        identity: source.identity,
        read: () => new Promise<never>(() => {}),
        close: async () => {},
      },
    });
    assert.deepEqual(others, []);
    assert.ok(end?.isLast);
    assert.equal(end.summary.missedLook, 'ANALYSIS_TIMEOUT');
    const whole = steps.at(-1);
    assert.ok(whole?.isLast);
    assert.deepEqual({ ...whole.summary, missedLook: 'ANALYSIS_TIMEOUT' }, end.summary);
  });

  describe('in a request whose time is over after the first look', () => {
    /** Windows of the first look have scores, and the clock goes on by hours. @param besides other work, from then on */
    async function late(t: TestContext, besides: () => void = () => {}, part = {}): Promise<Analysis> {
      const now = performance.now.bind(performance);
      let laterMs = 0;
      t.mock.method(performance, 'now', () => now() + laterMs);
      const windows = Math.ceil(spliced.length / RATE_HZ / 5);
      return ofFile(spliced, {
        ...part,
        owner: 'a',
        onProgress({ scoredWindows }: AnalysisProgress) {
          if (scoredWindows < windows - 1 || laterMs > 0) return;
          laterMs = 3_600_000;
          besides();
        },
      });
    }

    test('the verdict is that of the first look', async (t) => {
      const whole = await ofFile(spliced);
      const found = await late(t);
      assert.equal(found.missedLook, 'ANALYSIS_TIMEOUT');
      assert.deepEqual(found.windows, whole.windows);
      assert.equal(found.closerWindows, undefined);
      assert.deepEqual(findContrasts(found), []);
    });

    test('it fails if it needs the second one', async (t) => {
      await assert.rejects(
        late(t, () => {}, { needsSecondLook: true }),
        { key: 'ANALYSIS_TIMEOUT' },
      );
    });

    test('a busy thread is no reason to refuse it', async (t) => {
      const long = Array.from({ length: 3 }, () => [...human]).flat();
      const others: Promise<unknown>[] = [];
      const found = await late(t, () => others.push(ofFile(Float32Array.from(long), { owner: 'b' })));
      assert.equal(found.missedLook, 'QUEUE_DEADLINE');
      await Promise.all(others);
    });
  });

  for (const pieceS of [0.1, 1, 7, 60]) {
    test(`gets the same second look in live audio in pieces of ${pieceS} s`, async () => {
      const { closerWindows } = await ofFile(spliced);
      assert.deepEqual((await ofLive(spliced, pieceS)).closerWindows, closerWindows);
    });
  }

  test('gets the same second look before a long pause, and at the very end', async () => {
    const end = Math.round((startS + SENTENCE_S) * RATE_HZ);
    const pause = new Float32Array(spliced.length);
    pause.set(spliced.subarray(0, end));
    for (const samples of [
      pause,
      spliced.slice(0, end),
      spliced.slice(0, end - RATE_HZ),
      spliced.slice(0, end + 800),
    ]) {
      const { closerWindows } = await ofFile(samples);
      assert.ok(closerWindows && closerWindows.length > 0);
      assert.deepEqual(closerOf(await stepsOf(requestFor(samples))), closerWindows);
      for (const pieceS of [0.1, 60])
        assert.deepEqual((await ofLive(samples, pieceS)).closerWindows, closerWindows);
    }
  });

  test('has its times in the recording if only a region is analysed', async () => {
    const [contrast] = findContrasts(await ofFile(spliced, { startS: 10.4, endS: 60 }));
    assert.ok(Math.abs((contrast?.startS ?? 0) - startS) <= 1, `${contrast?.startS}`);
  });
});
