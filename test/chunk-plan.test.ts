// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { loadAddon } from '../src/addon/addon.js';
import { packageDir } from '../src/config/package-dir.js';
import { chunksOf, samplesIn } from '../src/verdict/chunk-plan.js';
import { monoWav } from './wav.js';

const inSeconds = (durationS: number): number[][] =>
  chunksOf(durationS).map(({ startSample, endSample }) => [startSample / 16_000, endSample / 16_000]);

test('the examples of the decisions', () => {
  assert.deepEqual(inSeconds(12), [
    [0, 5],
    [5, 10],
    [7, 12],
  ]);
  assert.deepEqual(inSeconds(10.001), [
    [0, 5],
    [5.001, 10.001],
  ]);
  assert.deepEqual(inSeconds(3), [[0, 3]]);
  assert.equal(chunksOf(30).length, 6);
});

test('the plan is what the native code cuts, at and around every edge', () => {
  const { models } = JSON.parse(readFileSync(path.join(packageDir, 'models/manifest.json'), 'utf8'));
  const spec = models.find(({ task }: { task: string }) => task === 'detection');
  const preparer = new (loadAddon().Preparer)(spec);
  const output = new Float32Array(preparer.inputSize);
  const options = { minDurationS: 1, maxDurationS: 100, silenceThresholdPercent: 100, timeLimitMs: 60_000 };
  const edges = [1, 3, 5, 6, 9, 10, 11, 12, 15, 16, 25.5].flatMap((durationS) =>
    [-1, 0, 1].map((difference) => durationS * 16_000 + difference),
  );
  for (const samples of edges.filter((count) => count >= 16_000)) {
    preparer.open(monoWav(new Float32Array(samples), 16_000), options, new Int32Array(1));
    const cut: { startSample: number; endSample: number }[] = [];
    for (let input = preparer.next(output); input !== undefined; input = preparer.next(output)) {
      cut.push({ startSample: samplesIn(input.startS), endSample: samplesIn(input.endS) });
    }
    const { durationS } = preparer.summary();
    preparer.close();
    assert.deepEqual(chunksOf(durationS), cut, `${samples} samples`);
  }
});
