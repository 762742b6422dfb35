// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { type AudioWindow, loadAddon } from '../../src/base/addon/addon.js';
import { packageDir } from '../../src/base/config/package-dir.js';
import { monoWav } from '../support/wav.js';
import { waveformPreparer } from '../support/waveform-preparer.js';

const RATE_HZ = 16_000;
const preparer = waveformPreparer(RATE_HZ);
const input = new Float32Array(preparer.inputSize);

type Times = (readonly [startS: number, endS: number])[];
const timesOf = (windows: readonly AudioWindow[]): Times =>
  windows.map(({ startS, endS }) => [startS, endS] as const);

/** The native code's output for audio at the models' own rate. */
function cut(samples: Float32Array, silenceThresholdPercent: number) {
  const options = { minDurationS: 1, maxDurationS: 100, silenceThresholdPercent, timeLimitMs: 60_000 };
  preparer.open(monoWav(samples, RATE_HZ), options, new Int32Array(1));
  const scored: AudioWindow[] = [];
  for (let next = preparer.next(input); next !== undefined; next = preparer.next(input)) scored.push(next);
  const { skipped, durationS } = preparer.summary();
  preparer.close();
  return { scored: timesOf(scored), skipped, durationS };
}

const everyWindow = (samples: number): Times => cut(new Float32Array(samples), 100).scored;

test('windows follow each other, and the last one slides back so that it is full', () => {
  const cases: readonly [durationS: number, windows: Times][] = [
    [3, [[0, 3]]],
    [5.1, [[0.1, 5.1]]],
    [
      5.39,
      [
        [0, 5],
        [0.39, 5.39],
      ],
    ],
    [
      10.001,
      [
        [0, 5],
        [5.001, 10.001],
      ],
    ],
    [
      10.9,
      [
        [0, 5],
        [5, 10],
        [5.9, 10.9],
      ],
    ],
    [
      12,
      [
        [0, 5],
        [5, 10],
        [7, 12],
      ],
    ],
  ];
  for (const [durationS, windows] of cases) assert.deepEqual(everyWindow(durationS * RATE_HZ), windows);
  assert.equal(everyWindow(30 * RATE_HZ).length, 6);
});

test('windows without speech are told one by one, whatever the length', () => {
  const edges = [1, 3, 5, 5.1, 6, 9, 10, 10.1, 10.9, 12, 15, 15.1, 25.5].flatMap((durationS) =>
    [-1, 0, 1].map((difference) => Math.round(durationS * RATE_HZ) + difference),
  );
  for (const samples of edges.filter((count) => count >= RATE_HZ)) {
    const { scored, skipped, durationS } = cut(new Float32Array(samples), 80);
    assert.deepEqual(scored, []);
    assert.equal(skipped.length, 1);
    const [stretch] = skipped;
    assert.deepEqual([stretch?.startS, stretch?.endS], [everyWindow(samples)[0]?.[0], durationS]);
    assert.deepEqual(timesOf(stretch?.windows ?? []), everyWindow(samples), `${samples} samples`);
  }
});

/** Speech from the fixtures in the given stretches, silence elsewhere. */
function speechAt(totalS: number, stretches: Times) {
  const samplesIn = (seconds: number): number => Math.round(seconds * RATE_HZ);
  const { samples, sampleRateHz } = loadAddon().decode(
    readFileSync(path.join(packageDir, 'test/fixtures/human-lj-a.flac')),
  );
  const speech = new (loadAddon().Resampler)(sampleRateHz, RATE_HZ).convert(samples);
  const audio = new Float32Array(samplesIn(totalS));
  for (const [startS, endS] of stretches) {
    for (let at = samplesIn(startS); at < samplesIn(endS); at++) {
      // From the second second on, where nobody pauses for long.
      audio[at] = speech[RATE_HZ + ((at - samplesIn(startS)) % (6 * RATE_HZ))] as number;
    }
  }
  return audio;
}

test('each window is scored or skipped, also beside one that overlaps it', () => {
  const cases: readonly [speech: Times, scored: Times, skipped: readonly Times[]][] = [
    [
      [[9.5, 10.9]],
      [[5.9, 10.9]],
      [
        [
          [0, 5],
          [5, 10],
        ],
      ],
    ],
    [
      [[0, 5]],
      [[0, 5]],
      [
        [
          [5, 10],
          [5.9, 10.9],
        ],
      ],
    ],
    [[[5, 6.8]], [[5, 10]], [[[0, 5]], [[5.9, 10.9]]]],
  ];
  for (const [speech, scored, skipped] of cases) {
    const found = cut(speechAt(10.9, speech), 80);
    assert.deepEqual(found.scored, scored);
    assert.deepEqual(
      found.skipped.map(({ windows }) => timesOf(windows)),
      skipped,
    );
    for (const { startS, endS, windows } of found.skipped) {
      assert.deepEqual([startS, endS], [windows[0]?.startS, windows.at(-1)?.endS]);
    }
  }
});
