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
  assert.deepEqual(inSeconds(10.9), [
    [0, 5],
    [5, 10],
    [5.9, 10.9],
  ]);
  assert.deepEqual(inSeconds(5.39), [
    [0, 5],
    [0.39, 5.39],
  ]);
  assert.deepEqual(inSeconds(10.001), [
    [0, 5],
    [5.001, 10.001],
  ]);
  assert.deepEqual(inSeconds(3), [[0, 3]]);
  assert.equal(chunksOf(30).length, 6);
});

interface Cut {
  readonly windows: { startSample: number; endSample: number }[];
  readonly skipped: readonly { readonly startS: number; readonly endS: number }[];
  readonly durationS: number;
}

/** What the native code makes of audio at the models' own rate. */
function nativeCut(samples: Float32Array, silenceThresholdPercent: number): Cut {
  const { models } = JSON.parse(readFileSync(path.join(packageDir, 'models/manifest.json'), 'utf8'));
  const spec = models.find(({ task }: { task: string }) => task === 'detection');
  const preparer = new (loadAddon().Preparer)(spec);
  const output = new Float32Array(preparer.inputSize);
  const options = { minDurationS: 1, maxDurationS: 100, silenceThresholdPercent, timeLimitMs: 60_000 };
  preparer.open(monoWav(samples, 16_000), options, new Int32Array(1));
  const windows: Cut['windows'] = [];
  for (let input = preparer.next(output); input !== undefined; input = preparer.next(output)) {
    windows.push({ startSample: samplesIn(input.startS), endSample: samplesIn(input.endS) });
  }
  const { durationS, skipped } = preparer.summary();
  preparer.close();
  return { windows, skipped, durationS };
}

test('the plan is what the native code cuts, at and around every edge', () => {
  const edges = [1, 3, 5, 5.1, 6, 9, 10, 10.1, 10.9, 12, 15, 15.1, 25.5].flatMap((durationS) =>
    [-1, 0, 1].map((difference) => Math.round(durationS * 16_000) + difference),
  );
  for (const count of edges.filter((samples) => samples >= 16_000)) {
    const { windows, durationS } = nativeCut(new Float32Array(count), 100);
    assert.deepEqual(chunksOf(durationS), windows, `${count} samples`);
  }
});

test('all but a tenth of a second is in a window, whatever the length', () => {
  for (let count = 16_000; count < 260_000; count += 37) {
    let heardTo = 0;
    let unheard = 0;
    for (const { startSample, endSample } of chunksOf(count / 16_000)) {
      assert.equal(endSample - startSample, Math.min(count, 80_000), `${count} samples`);
      unheard += Math.max(0, startSample - heardTo);
      heardTo = endSample;
    }
    assert.equal(heardTo, count);
    assert.ok(unheard <= 1600, `${unheard} of ${count} samples are in no window`);
  }
});

/** Speech from the fixtures in the given stretches, silence elsewhere. */
function speechAt(totalS: number, stretches: readonly (readonly [startS: number, endS: number])[]) {
  const { samples, sampleRateHz } = loadAddon().decode(
    readFileSync(path.join(packageDir, 'test/fixtures/human-lj-a.flac')),
  );
  const speech = new (loadAddon().Resampler)(sampleRateHz, 16_000).convert(samples);
  const audio = new Float32Array(samplesIn(totalS));
  for (const [startS, endS] of stretches) {
    for (let at = samplesIn(startS); at < samplesIn(endS); at++) {
      // From the second second on, where nobody pauses for long.
      audio[at] = speech[16_000 + ((at - samplesIn(startS)) % 96_000)] as number;
    }
  }
  return audio;
}

test('windows that are skipped for silence keep their own times beside one that overlaps them', () => {
  const onlyLast = nativeCut(speechAt(10.9, [[9.5, 10.9]]), 80);
  assert.deepEqual(onlyLast.windows, [{ startSample: 94_400, endSample: 174_400 }]);
  assert.deepEqual(
    onlyLast.skipped.map(({ startS, endS }) => [startS, endS]),
    [[0, 10]],
    'the windows before are skipped up to where they end, though the last one begins earlier',
  );
  const onlyFirst = nativeCut(speechAt(10.9, [[0, 5]]), 80);
  assert.deepEqual(onlyFirst.windows, [{ startSample: 0, endSample: 80_000 }]);
  assert.deepEqual(
    onlyFirst.skipped.map(({ startS, endS }) => [startS, endS]),
    [[5, 10.9]],
    'one stretch, without counting twice what both windows hold',
  );
  const middleOnly = nativeCut(speechAt(10.9, [[5, 5.9 + 0.9]]), 80);
  assert.deepEqual(middleOnly.windows, [{ startSample: 80_000, endSample: 160_000 }]);
  assert.deepEqual(
    middleOnly.skipped.map(({ startS, endS }) => [startS, endS]),
    [
      [0, 5],
      [5.9, 10.9],
    ],
  );
});
