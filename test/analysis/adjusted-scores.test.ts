// SPDX-License-Identifier: Apache-2.0
//
// Files, recordings and live audio: scores are adjusted by the vector of their own window on each way.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import type { LiveEvent } from '../../src/analysis/analyser/live.js';
import { UploadArena } from '../../src/analysis/memory/arena.js';
import { startPipeline } from '../../src/analysis/pipeline/pipeline.js';
import { loadAddon } from '../../src/base/addon/addon.js';
import { packageDir } from '../../src/base/config/package-dir.js';
import { MemoryByteSource } from '../support/byte-sources.js';
import { shippedModelsDir } from '../support/speaker-models.js';
import { testConfig } from '../support/test-server.js';
import { until } from '../support/until.js';
import { monoWav, repeated } from '../support/wav.js';

const limits = { silenceThresholdPercent: 100, minDurationS: 0.1, maxDurationS: 600 };

test('files, recordings and live audio have each score adjusted by the vector of its own window', async (t) => {
  const arena = new UploadArena(16 << 20);
  const analyser = await startPipeline(
    { ...testConfig, modelsDir: shippedModelsDir, scoringThreads: 2 },
    arena.buffer,
  );
  t.after(() => analyser.close());
  const model = analyser.status().detectors.at(-1)?.id as string;
  const clip = await readFile(path.join(packageDir, 'test/fixtures/human-lj-a.flac'));
  const samples = repeated(loadAddon().decode(clip).samples, 4 * 80_000);
  const file = monoWav(samples, 16_000);
  const vectors = new Map<number, Float32Array>();
  /** Differs for each vector. */
  const digestOf = (vector: Float32Array): number =>
    Math.abs(Math.sin(vector.reduce((sum, x) => sum + x, 0)));
  const adjustScore = (score: number, vector: Float32Array): number => {
    vectors.set(score, vector.slice());
    return digestOf(vector);
  };
  const region = arena.reserve(file.length);
  assert.ok(region);
  arena.bytes.set(file, region.offset);
  const { signal } = new AbortController();
  const plain = await analyser.analyse({ ...limits, region, model, signal });
  const scores = plain.windows.flatMap((window) => window.scores);
  assert.ok(scores.length >= 4);
  const found = await analyser.analyse({ ...limits, region, model, signal, adjustScore });
  const expected = scores.map((score) =>
    digestOf(vectors.get(score) ?? assert.fail('a window without vector')),
  );
  assert.deepEqual(
    found.windows.flatMap((window) => window.scores),
    expected,
  );

  const inSteps: number[] = [];
  const source = new MemoryByteSource(file);
  const request = { ...limits, source, model, signal, adjustScore, timeLimitMs: 600_000 };
  for await (const { windows } of analyser.analyseRecording(request))
    inSteps.push(...windows.flatMap((window) => window.scores));
  assert.deepEqual(inSteps, expected);

  const events: LiveEvent[] = [];
  const live = analyser.openLive({
    ...limits,
    format: { encoding: 'pcm16', sampleRateHz: 16_000, channels: 1, preSkip: 0 },
    model,
    owner: 'a',
    adjustScore,
    onEvent: (event) => void events.push(event),
  });
  live.push(file.subarray(44), samples.length / 16_000);
  live.finish();
  await until(() => events.some(({ kind }) => kind === 'end' || kind === 'failed'));
  await live.close();
  assert.deepEqual(
    events.flatMap((event) => (event.kind === 'window' ? event.window.scores : [])),
    expected,
  );
});
