// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import type { Analyser } from '../../src/analysis/analyser/analyser.js';
import type { UploadArena } from '../../src/analysis/memory/arena.js';

/** The scores of each window of a file, by the default detector. */
export async function scoresOf(analyser: Analyser, arena: UploadArena, file: Uint8Array) {
  const region = arena.reserve(file.length);
  assert.ok(region);
  arena.bytes.set(file, region.offset);
  const { windows } = await analyser.analyse({
    region: { offset: region.offset, length: file.length },
    model: 'apollo-4-5-2026-03-26',
    silenceThresholdPercent: 80,
    minDurationS: 1,
    maxDurationS: 60,
    signal: new AbortController().signal,
  });
  return windows.map(({ scores }) => scores);
}
