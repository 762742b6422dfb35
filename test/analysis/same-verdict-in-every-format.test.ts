// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import type { Analyser } from '../../src/analysis/analyser/analyser.js';
import { UploadArena } from '../../src/analysis/memory/arena.js';
import { startPipeline } from '../../src/analysis/pipeline/pipeline.js';
import { packageDir } from '../../src/base/config/package-dir.js';
import { ffmpegMany } from '../support/recordings.js';

/** Options by file name. */
type Encodings = Readonly<Record<string, readonly string[]>>;

// All ten formats of the contract: lossless ones, and codecs at rates where a listener hears no loss.
const lossless: Encodings = {
  'clip.wav': ['-c:a', 'pcm_s16le'],
  'clip48.wav': ['-c:a', 'pcm_s16le', '-ar', '48000', '-ac', '2'],
  'clip.flac': ['-c:a', 'flac'],
  'clip441.flac': ['-c:a', 'flac', '-ar', '44100'],
  'clip-alac.m4a': ['-c:a', 'alac'],
  'clip.mov': ['-c:a', 'pcm_s16be'],
  'clip.avi': ['-c:a', 'pcm_s16le'],
  'clip.mkv': ['-c:a', 'flac'],
};
const nearLossless: Encodings = {
  'clip.mp3': ['-c:a', 'libmp3lame', '-b:a', '160k'],
  'clip.aac': ['-c:a', 'aac', '-b:a', '192k'],
  'clip.ogg': ['-c:a', 'libvorbis', '-q:a', '9'],
  'clip.m4a': ['-c:a', 'aac', '-b:a', '192k'],
  'clip.mp4': ['-c:a', 'aac', '-b:a', '192k'],
};
// The model card's claim for these codecs, plus a margin.
const largestDifference = 0.08;

const arena = new UploadArena(16 * 1024 * 1024);
let folder: string;
let analyser: Analyser;

before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'veravox-test-'));
  analyser = await startPipeline(
    {
      modelsDir: path.join(packageDir, 'models'),
      device: 'cpu',
      prepareThreads: 1,
      scoringThreads: 1,
      maxBatchWindows: 1,
      batchWaitMs: 0,
      queueTimeoutMs: 60_000,
      analysisTimeoutMs: 60_000,
    },
    arena.buffer,
  );
});

after(async () => {
  await analyser.close();
  await rm(folder, { recursive: true });
});

async function meanScore(file: Uint8Array): Promise<number> {
  const region = arena.reserve(file.length);
  assert.ok(region);
  arena.bytes.set(file, region.offset);
  const { windows } = await analyser.analyse({
    region: { offset: region.offset, length: file.length },
    model: analyser.status().models[0] as string,
    silenceThresholdPercent: 80,
    minDurationS: 1,
    maxDurationS: 600,
    signal: new AbortController().signal,
  });
  arena.release(region);
  const scores = windows.flatMap((window) => window.scores);
  return scores.reduce((sum, score) => sum + score, 0) / scores.length;
}

async function expectSameVerdict(fixture: string, encodings: Encodings): Promise<void> {
  const source = path.join(packageDir, 'test/fixtures', fixture);
  const original = await meanScore(await readFile(source));
  ffmpegMany(folder, source, encodings);
  for (const [name, options] of Object.entries(encodings)) {
    const score = await meanScore(await readFile(path.join(folder, name)));
    const what = `${options.join(' ')} ${name}: ${score.toFixed(4)}, from the original ${original.toFixed(4)}`;
    assert.ok(Math.abs(score - original) <= largestDifference, what);
    assert.equal(score >= 0.5, original >= 0.5, what);
  }
}

const everyFixture = [
  'human-lj-a.flac',
  'human-lj-b.flac',
  'human-vctk-p237.flac',
  'ai-kokoro.flac',
  'ai-wavenet-lj.flac',
];
for (const fixture of everyFixture) {
  test(`${fixture} gets the same verdict in every lossless format`, () =>
    expectSameVerdict(fixture, lossless));
}

// The model card says that such codecs move AI-generated speech by more.
for (const fixture of everyFixture.filter((name) => name.startsWith('human'))) {
  test(`${fixture} gets the same verdict through codecs without audible loss`, () =>
    expectSameVerdict(fixture, nearLossless));
}
