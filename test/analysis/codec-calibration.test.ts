// SPDX-License-Identifier: Apache-2.0
//
// Scores of coded sound are calibrated by codec and rate, however the audio comes: as a file, a part of it, a recording that is
// read in ranges, or a stream.
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import type { Analysis, ScoredWindow } from '../../src/analysis/analyser/analyser.js';
import type { LiveEvent, LiveFormat } from '../../src/analysis/analyser/live.js';
import type { FullAnalyser } from '../../src/analysis/analyser/recording.js';
import { UploadArena } from '../../src/analysis/memory/arena.js';
import { checkManifest } from '../../src/analysis/models/manifest.js';
import { startPipeline } from '../../src/analysis/pipeline/pipeline.js';
import { verdictOf } from '../../src/analysis/verdict/verdict.js';
import { type AudioPart, loadAddon } from '../../src/base/addon/addon.js';
import { packageDir } from '../../src/base/config/package-dir.js';
import { MemoryByteSource } from '../support/byte-sources.js';
import { opusPackets } from '../support/opus.js';
import { ffmpegInto } from '../support/recordings.js';
import { testConfig } from '../support/test-server.js';
import { tinyEntry } from '../support/tiny-models.js';
import { until } from '../support/until.js';
import { monoWav, repeated } from '../support/wav.js';

/** Steep enough to reveal a rate that is off by a tenth. */
const codecs = {
  opus: [
    [8000, -3],
    [128_000, 3],
  ],
  gsm_ms: [[13_000, -1.5]],
};

const arena = new UploadArena(16 << 20);
const common = { silenceThresholdPercent: 100, minDurationS: 0.1, maxDurationS: 600 };
let folder: string;
let analyser: FullAnalyser;
let convert: (args: readonly string[]) => Promise<Uint8Array>;

// The audio moves the score of neither model by more than its mean does, which is near 0: the rest is the calibration.
before(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'veravox-codecs-'));
  const plain = tinyEntry(folder, 'plain', 'even');
  const calibrated = { ...plain, id: 'calibrated', calibration: { scale: 1, bias: 0, codecs } };
  const { models } = checkManifest('here', { version: 1, models: [plain, calibrated] });
  analyser = await startPipeline({ ...testConfig, modelsDir: folder }, arena.buffer, { models });
  const clip = await readFile(path.join(packageDir, 'test/fixtures/human-lj-a.flac'));
  const wav = path.join(folder, 'speech.wav');
  await writeFile(wav, monoWav(repeated(loadAddon().decode(clip).samples, 16000 * 13), 16000));
  convert = (args) => readFile(ffmpegInto(folder)(wav, args));
});

after(async () => {
  await analyser.close();
  await rm(folder, { recursive: true });
});

async function analysed(file: Uint8Array, model: string, part: AudioPart = {}): Promise<Analysis> {
  const region = arena.reserve(file.length);
  assert.ok(region);
  arena.bytes.set(file, region.offset);
  const { signal } = new AbortController();
  return analyser.analyse({ region, model, ...common, ...part, signal }).finally(() => arena.release(region));
}

async function recorded(file: Uint8Array, model: string, part: AudioPart = {}): Promise<ScoredWindow[]> {
  const { signal } = new AbortController();
  const source = new MemoryByteSource(file);
  const request = { source, model, ...common, ...part, timeLimitMs: 60_000, stepS: 1, signal };
  const windows: ScoredWindow[] = [];
  for await (const step of analyser.analyseRecording(request)) windows.push(...step.windows);
  return windows;
}

async function streamed(
  pieces: readonly Uint8Array[],
  pieceS: number,
  format: LiveFormat,
  model: string,
): Promise<ScoredWindow[]> {
  const events: LiveEvent[] = [];
  const onEvent = (event: LiveEvent): void => void events.push(event);
  const live = analyser.openLive({ format, model, ...common, owner: 'a', onEvent });
  for (const piece of pieces) live.push(piece, pieceS);
  live.finish();
  await until(() => ['end', 'failed'].includes(events.at(-1)?.kind ?? ''));
  assert.equal(events.at(-1)?.kind, 'end');
  return events.flatMap((event) => (event.kind === 'window' ? [event.window] : []));
}

const logOdds = ({ scores }: ScoredWindow): number => {
  const [score = Number.NaN] = scores;
  return Math.log(score / (1 - score));
};

/** The change made by the tables. */
function offsets(calibrated: readonly ScoredWindow[], plain: readonly ScoredWindow[]): number[] {
  assert.equal(calibrated.length, plain.length);
  return calibrated.map((window, i) => logOdds(window) - logOdds(plain[i] as ScoredWindow));
}

const offsetOfOpus = (bitsPerS: number): number => -3 + 6 * (Math.log2(bitsPerS / 8000) / 4);

function assertOpus(calibrated: readonly ScoredWindow[], plain: readonly ScoredWindow[]): void {
  assert.ok(plain.length >= 2);
  offsets(calibrated, plain).forEach((offset, i) => {
    const { codec, codedBitsPerS = 0 } = calibrated[i] as ScoredWindow;
    assert.equal(codec, 'opus');
    assert.ok(codedBitsPerS > 22_000 && codedBitsPerS < 34_000, `${codedBitsPerS} bit/s`);
    assert.ok(Math.abs(offset - offsetOfOpus(codedBitsPerS)) < 1e-9, `${offset} at ${codedBitsPerS}`);
  });
}

const opus = (): Promise<Uint8Array> => convert(['-c:a', 'libopus', '-b:a', '24k', 'out.opus']);

const parts: readonly AudioPart[] = [{}, { startS: 1.5, endS: 12.25 }, { channel: 0 }];
for (const part of parts) {
  test(`a file's windows get the offsets of their rates, with ${JSON.stringify(part)}`, async () => {
    const file = await opus();
    const calibrated = await analysed(file, 'calibrated', part);
    const plain = await analysed(file, 'plain', part);
    assertOpus(calibrated.windows, plain.windows);
    assert.deepEqual(await recorded(file, 'calibrated', part), calibrated.windows);
    assert.deepEqual(await recorded(file, 'plain', part), plain.windows);
  });
}

test('the verdict on a recording agrees with its windows', async () => {
  const { windows, ...analysis } = await analysed(await opus(), 'calibrated');
  const { score, segments } = verdictOf({ windows, ...analysis }, 0.5, 100);
  const mean = windows.reduce((sum, { scores: [first = 0] }) => sum + first, 0) / windows.length;
  assert.ok(Math.abs(score - mean) < 1e-5);
  assert.ok(score < 0.4, 'calibrated downwards');
  assert.deepEqual(
    segments.map(({ result }) => result),
    windows.map(() => 'bonafide'),
  );
});

test('telephone codecs get theirs', async () => {
  const file = await convert(['-ar', '8000', '-c:a', 'libgsm_ms', 'out.wav']);
  const calibrated = await analysed(file, 'calibrated');
  const plain = await analysed(file, 'plain');
  for (const offset of offsets(calibrated.windows, plain.windows)) assert.ok(Math.abs(offset + 1.5) < 1e-9);
  assert.deepEqual(
    calibrated.windows.map(({ codec, codedBitsPerS = 0 }) => [codec, Math.round(codedBitsPerS)]),
    calibrated.windows.map(() => ['gsm_ms', 13_000]),
  );
});

for (const args of [['plain.wav'], ['plain.flac'], ['-b:a', '32k', 'without-a-table.mp3']]) {
  test(`${args.at(-1)} has no offset`, async () => {
    const file = await convert(args);
    const [calibrated, plain] = [await analysed(file, 'calibrated'), await analysed(file, 'plain')];
    assert.deepEqual(calibrated.windows, plain.windows);
  });
}

test('streams of Opus packets get the offsets of a file with them', async () => {
  const packets = opusPackets(await opus());
  const format: LiveFormat = { encoding: 'opus', sampleRateHz: 48000, channels: 1, preSkip: 312 };
  const calibrated = await streamed(packets, 0.02, format, 'calibrated');
  assertOpus(calibrated, await streamed(packets, 0.02, format, 'plain'));
});

test('streams of PCM have no offset', async () => {
  const samples = await convert(['-f', 's16le', 'out.raw']);
  const pieces = Array.from({ length: 13 }, (_, i) => samples.slice(32_000 * i, 32_000 * (i + 1)));
  const format: LiveFormat = { encoding: 'pcm16', sampleRateHz: 16000, channels: 1, preSkip: 0 };
  const calibrated = await streamed(pieces, 1, format, 'calibrated');
  assert.equal(calibrated.length, 3);
  assert.deepEqual(calibrated, await streamed(pieces, 1, format, 'plain'));
});
