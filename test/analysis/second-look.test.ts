// SPDX-License-Identifier: Apache-2.0
//
// The second look: which windows are scored again, and that files, recordings in ranges and live audio get the same.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Analysis } from '../../src/analysis/analyser/analyser.js';
import type { LiveEvent } from '../../src/analysis/analyser/live.js';
import type { FullAnalyser, RecordingCursor, RecordingEnd } from '../../src/analysis/analyser/recording.js';
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
    const modelsDir = path.join(packageDir, 'models');
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

  async function ofRecording(samples: Float32Array): Promise<RecordingEnd & { cursors: RecordingCursor[] }> {
    const cursors: RecordingCursor[] = [];
    const source = new MemoryByteSource(monoWav(samples, RATE_HZ));
    const { signal } = new AbortController();
    const request = { source, model, ...common, timeLimitMs: 120_000, stepS: 10, signal };
    for await (const step of analyser.analyseRecording(request)) {
      if (step.isLast) return { ...step, cursors };
      cursors.push(step.cursor);
    }
    throw new Error('Expected a last step.');
  }

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
    const { closerWindows } = await ofFile(spliced);
    assert.ok(closerWindows && closerWindows.length > 5);
    const whole = await ofRecording(spliced);
    assert.deepEqual(whole.closerWindows, closerWindows);
    assert.ok(whole.cursors.length > 2);
    for (const cursor of whole.cursors) {
      const source = new MemoryByteSource(monoWav(spliced, RATE_HZ));
      const { signal } = new AbortController();
      const saved = JSON.parse(JSON.stringify(cursor)) as RecordingCursor;
      const request = { source, model, ...common, timeLimitMs: 120_000, signal, cursor: saved };
      let last: RecordingEnd | undefined;
      for await (const step of analyser.analyseRecording(request)) if (step.isLast) last = step;
      assert.deepEqual(last?.closerWindows, closerWindows, `after ${cursor.audioS} s`);
    }
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
      assert.deepEqual((await ofRecording(samples)).closerWindows, closerWindows);
      for (const pieceS of [0.1, 60])
        assert.deepEqual((await ofLive(samples, pieceS)).closerWindows, closerWindows);
    }
  });

  test('has its times in the recording if only a region is analysed', async () => {
    const [contrast] = findContrasts(await ofFile(spliced, { startS: 10.4, endS: 60 }));
    assert.ok(Math.abs((contrast?.startS ?? 0) - startS) <= 1, `${contrast?.startS}`);
  });
});
