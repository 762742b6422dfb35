// SPDX-License-Identifier: Apache-2.0
//
// Promised in docs/api.md#segments.
import { describe, test } from 'node:test';
import { human } from './support/audio.js';
import { postForm } from './support/client.js';
import { expectLargeFilePrediction, expectNear, expectPrediction } from './support/judge.js';
import { expectedWindows, expectWindows } from './support/prediction-rules.js';
import { wav } from './support/wav.js';

const shown: [durationS: number, windows: [number, number][]][] = [
  [
    12,
    [
      [0, 5],
      [5, 10],
      [7, 12],
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
];
const durationsS = [1, 1.5, 4.999, 5, 5.001, 5.1, 5.101, 5.999, 6, 9.999, 10, 10.1, 10.101, 14.3, 30];

describe('Segments', () => {
  for (const [durationS, windows] of [...shown, ...durationsS.map((s) => [s, expectedWindows(s)] as const)]) {
    const name = `${durationS} s are analysed as ${windows.length} windows, up to ${windows.at(-1)}`;

    test(`/predict: ${name}`, async () => {
      const prediction = expectPrediction(await postForm('/v1/predict', { file: wav(human(durationS)) }));
      expectNear(prediction.audio_duration, durationS, 5e-4, 'audio_duration');
      expectWindows(prediction.segments, windows);
    });
  }

  for (const durationS of [4.999, 5.1, 5.101, 10.001, 10.9, 12]) {
    test(`/predict/large-file cuts ${durationS} s into the same windows`, async () => {
      const file = wav(human(durationS), { totalBytes: 5_000_000 });
      const { segments } = expectLargeFilePrediction(await postForm('/v1/predict/large-file', { file }));
      expectWindows(segments, expectedWindows(durationS));
    });
  }
});
