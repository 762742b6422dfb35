// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { packageDir } from '../src/config/package-dir.js';
import type { Analyser } from '../src/pipeline/analysis.js';
import { startPipeline } from '../src/pipeline/pipeline.js';
import { UploadArena } from '../src/upload/arena.js';

// All ten formats of the contract: lossless ones, and codecs at rates where a listener hears no loss.
const lossless: readonly (readonly string[])[] = [
  ['-c:a', 'pcm_s16le', 'clip.wav'],
  ['-c:a', 'pcm_s16le', '-ar', '48000', '-ac', '2', 'clip48.wav'],
  ['-c:a', 'flac', 'clip.flac'],
  ['-c:a', 'flac', '-ar', '44100', 'clip441.flac'],
  ['-c:a', 'alac', 'clip-alac.m4a'],
  ['-c:a', 'pcm_s16be', 'clip.mov'],
  ['-c:a', 'pcm_s16le', 'clip.avi'],
  ['-c:a', 'flac', 'clip.mkv'],
];
const nearLossless: readonly (readonly string[])[] = [
  ['-c:a', 'libmp3lame', '-b:a', '160k', 'clip.mp3'],
  ['-c:a', 'aac', '-b:a', '192k', 'clip.aac'],
  ['-c:a', 'libvorbis', '-q:a', '9', 'clip.ogg'],
  ['-c:a', 'aac', '-b:a', '192k', 'clip.m4a'],
  ['-c:a', 'aac', '-b:a', '192k', 'clip.mp4'],
];
const encodings = { lossless, nearLossless };
const largestDifference = { lossless: 0.05, nearLossless: 0.1 };

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
    modelId: analyser.status().models[0] as string,
    silenceThresholdPercent: 80,
    minDurationS: 1,
    maxDurationS: 600,
    signal: new AbortController().signal,
  });
  arena.release(region);
  const scores = windows.flatMap((window) => window.scores);
  return scores.reduce((sum, score) => sum + score, 0) / scores.length;
}

async function expectSameVerdict(fixture: string, kinds: readonly (keyof typeof encodings)[]): Promise<void> {
  const source = path.join(packageDir, 'test/fixtures', fixture);
  const original = await meanScore(await readFile(source));
  for (const [kind, encoding] of kinds.flatMap((kind) =>
    encodings[kind].map((one) => [kind, one] as const),
  )) {
    const output = path.join(folder, encoding.at(-1) as string);
    const options = ['-v', 'error', '-y', '-i', source, ...encoding.slice(0, -1), output];
    await promisify(execFile)('ffmpeg', options);
    const score = await meanScore(await readFile(output));
    const what = `${encoding.join(' ')}: ${score.toFixed(4)}, from the original ${original.toFixed(4)}`;
    assert.ok(Math.abs(score - original) <= largestDifference[kind], what);
    assert.equal(score >= 0.5, original >= 0.5, what);
  }
}

for (const fixture of ['human-lj-b.flac', 'human-vctk-p237.flac', 'ai-kokoro.flac', 'ai-wavenet-lj.flac']) {
  test(`${fixture} gets the same verdict in every lossless format`, () =>
    expectSameVerdict(fixture, ['lossless']));
}

// The model card says how far codecs move the scores of AI-generated speech.
for (const fixture of ['human-lj-a.flac', 'human-vctk-p237.flac']) {
  test(`${fixture} gets the same verdict in all ten formats`, () =>
    expectSameVerdict(fixture, ['lossless', 'nearLossless']));
}
