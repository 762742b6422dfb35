// SPDX-License-Identifier: Apache-2.0
//
// Live audio: the same windows and scores as the same audio in a file, whatever the pieces.
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';
import type { Analysis } from '../../src/analysis/analyser/analyser.js';
import type { LiveAudio, LiveEvent, LiveFormat } from '../../src/analysis/analyser/live.js';
import type { FullAnalyser } from '../../src/analysis/analyser/recording.js';
import { UploadArena } from '../../src/analysis/memory/arena.js';
import { startPipeline } from '../../src/analysis/pipeline/pipeline.js';
import { loadAddon } from '../../src/base/addon/addon.js';
import { packageDir } from '../../src/base/config/package-dir.js';
import { ServiceError } from '../../src/base/errors/service-error.js';
import { oggOpus, opusPackets } from '../support/opus.js';
import { ffmpegInto } from '../support/recordings.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { testConfig } from '../support/test-server.js';
import { until } from '../support/until.js';
import { monoWav, repeated } from '../support/wav.js';

const arena = new UploadArena(16 << 20);
const common = { silenceThresholdPercent: 80, minDurationS: 0.1, maxDurationS: 600 };
let analyser: FullAnalyser;
let model: string;
let speech: Float32Array;

before(async () => {
  const modelsDir = path.join(packageDir, 'models');
  analyser = await startPipeline({ ...testConfig, modelsDir, scoringThreads: 2 }, arena.buffer);
  model = analyser.status().detectors.at(-1)?.id as string;
  const clip = await readFile(path.join(packageDir, 'test/fixtures/human-lj-a.flac'));
  speech = loadAddon().decode(clip).samples;
});

after(() => analyser.close());

async function ofFile(file: Uint8Array, silenceThresholdPercent = 80): Promise<Analysis> {
  const region = arena.reserve(file.length);
  assert.ok(region);
  arena.bytes.set(file, region.offset);
  const { signal } = new AbortController();
  const request = { region, model, ...common, silenceThresholdPercent, signal };
  return analyser.analyse(request).finally(() => arena.release(region));
}

const pcm = (sampleRateHz: number): LiveFormat => ({
  encoding: 'pcm16',
  sampleRateHz,
  channels: 1,
  preSkip: 0,
});

interface LiveRun {
  readonly events: LiveEvent[];
  readonly live: LiveAudio;
}

function open(format: LiveFormat, silenceThresholdPercent = 80, maxDurationS = 600): LiveRun {
  const events: LiveEvent[] = [];
  const onEvent = (event: LiveEvent): void => void events.push(event);
  const request = { format, model, ...common, silenceThresholdPercent, maxDurationS, owner: 'a', onEvent };
  return { events, live: analyser.openLive(request) };
}

const isOver = ({ events }: LiveRun): boolean => ['end', 'failed'].includes(events.at(-1)?.kind ?? '');

async function finished(run: LiveRun): Promise<LiveEvent[]> {
  run.live.finish();
  await until(() => isOver(run));
  return run.events;
}

/** In pieces of varying length. */
function pushSamples(live: LiveAudio, wav: Uint8Array, sampleRateHz: number): void {
  const data = wav.subarray(44);
  for (let begin = 0, i = 0; begin < data.length; i++) {
    const piece = data.slice(begin, begin + 2 * (1 + ((i * 7919) % 3000)));
    live.push(piece, piece.length / 2 / sampleRateHz);
    begin += piece.length;
  }
}

function assertSame(events: readonly LiveEvent[], analysis: Analysis): void {
  const end = events.at(-1);
  assert.equal(end?.kind, 'end', String(end?.kind === 'failed' && end.reason));
  if (end?.kind !== 'end') return;
  const windows = events.flatMap((event) => (event.kind === 'window' ? [event.window] : []));
  assert.deepEqual(windows, analysis.windows);
  const { durationS, speechRatio, clippedRatio, highBandDropDb, noiseGapDb, hasInvertedChannels, skipped } =
    analysis;
  const { summary } = end;
  assert.deepEqual(
    [
      summary.durationS,
      summary.speechRatio,
      summary.clippedRatio,
      summary.highBandDropDb,
      summary.noiseGapDb,
      summary.hasInvertedChannels,
    ],
    [durationS, speechRatio, clippedRatio, highBandDropDb, noiseGapDb, hasInvertedChannels],
  );
  assert.deepEqual(end.skipped, skipped);
  assert.deepEqual(end.closerWindows, analysis.closerWindows);
}

/** Speech, a pause of 7 s, speech. */
const withPause = (): Float32Array => {
  const samples = new Float32Array(16000 * 24);
  samples.set(repeated(speech, 16000 * 7), 0);
  samples.set(repeated(speech, 16000 * 10), 16000 * 14);
  return samples;
};

for (const rateHz of [8000, 16000, 44100, 48000])
  test(`PCM at ${rateHz} Hz gives the windows and scores of a file`, async (context) => {
    const wav16 = path.join(temporaryFolder(context), 'in.wav');
    await writeFile(wav16, monoWav(withPause(), 16000));
    const convert = ffmpegInto(path.dirname(wav16));
    const samples = await readFile(convert(wav16, ['-ar', String(rateHz), '-f', 's16le', `${rateHz}.raw`]));
    const floats = Float32Array.from(
      { length: samples.length / 2 },
      (_, i) => samples.readInt16LE(2 * i) / 32767,
    );
    const wav = monoWav(floats, rateHz);
    const analysis = await ofFile(wav, 60);
    assert.ok(analysis.windows.length >= 3 && analysis.skipped.length === 1);
    const run = open(pcm(rateHz), 60);
    pushSamples(run.live, wav, rateHz);
    assertSame(await finished(run), analysis);
  });

for (const law of ['mulaw', 'alaw'] as const)
  test(`G.711 ${law} gives the windows and scores of a file, decoded here or by FFmpeg`, async (context) => {
    const wav16 = path.join(temporaryFolder(context), 'in.wav');
    await writeFile(wav16, monoWav(withPause(), 16000));
    const convert = ffmpegInto(path.dirname(wav16));
    const coded = convert(wav16, ['-ar', '8000', '-c:a', `pcm_${law}`, 'coded.wav']);
    const bytes = await readFile(convert(coded, ['-c:a', 'copy', '-f', law, `coded.${law}`]));
    const analysis = await ofFile(await readFile(coded), 60);
    assert.ok(analysis.windows.length >= 3 && analysis.skipped.length === 1);
    assert.deepEqual(
      [analysis.windows[0]?.codec, analysis.windows[0]?.codedBitsPerS],
      [`pcm_${law}`, 64_000],
    );
    const run = open({ ...pcm(8000), encoding: law }, 60);
    for (let begin = 0, i = 0; begin < bytes.length; i++) {
      const piece = bytes.subarray(begin, begin + 1 + ((i * 7919) % 3001));
      run.live.push(Uint8Array.from(piece), piece.length / 8000);
      begin += piece.length;
    }
    const events = await finished(run);
    assertSame(events, analysis);
    const decoded = await ofFile(await readFile(convert(coded, ['-c:a', 'pcm_s16le', 'decoded.wav'])), 60);
    const scores = events.flatMap((event) => (event.kind === 'window' ? [event.window.scores] : []));
    // The models have no offsets for G.711.
    assert.deepEqual(
      scores,
      decoded.windows.map((window) => window.scores),
    );
  });

for (const seconds of [0.7, 5, 10.05, 15.2])
  test(`audio that ends after ${seconds} s gives what a file gives`, async () => {
    const wav = monoWav(repeated(speech, 16000 * seconds), 16000);
    const run = open(pcm(16000));
    pushSamples(run.live, wav, 16000);
    assertSame(await finished(run), await ofFile(wav));
  });

const opusLayouts = [
  { what: 'one channel', channels: 1, pan: 'mono|c0=c0' },
  { what: 'two channels of opposite polarity', channels: 2, pan: 'stereo|c0=c0|c1=-1*c0' },
];

for (const { what, channels, pan } of opusLayouts)
  test(`Opus packets of ${what} give what an Ogg file with them gives`, async (context) => {
    const folder = temporaryFolder(context);
    const wav = path.join(folder, 'in.wav');
    await writeFile(wav, monoWav(repeated(speech, 16000 * 13), 16000));
    const coded = ffmpegInto(folder)(wav, ['-af', `pan=${pan}`, '-c:a', 'libopus', 'out.opus']);
    const packets = opusPackets(await readFile(coded));
    const preSkip = 312;
    const analysis = await ofFile(oggOpus(packets, preSkip, channels));
    const run = open({ encoding: 'opus', sampleRateHz: 48000, channels, preSkip });
    for (const packet of packets) run.live.push(packet, 0.02);
    assertSame(await finished(run), analysis);
    assert.equal(analysis.windows.length, 3);
    assert.equal(analysis.hasInvertedChannels === true, channels === 2);
  });

test('a window is told before the audio is over, and about 0.1 s after its end', async () => {
  const run = open(pcm(16000));
  const { live, events } = run;
  const samples = monoWav(repeated(speech, 16000 * 7), 16000).subarray(44);
  live.push(samples.slice(0, 32000 * 5), 5);
  await until(() => live.waitingS === 0);
  assert.equal(events.length, 0, 'not certain before more has come');
  live.push(samples.slice(32000 * 5, 32000 * 5.15), 0.15);
  await until(() => events.length === 1);
  assert.equal(events[0]?.kind, 'window');
  await live.close();
});

test('a stream with silence alone has skipped windows and an end', async () => {
  const run = open(pcm(16000));
  run.live.push(new Uint8Array(32000 * 11), 11);
  const kinds = (await finished(run)).map((event) => event.kind);
  assert.deepEqual(kinds, ['skipped', 'skipped', 'skipped', 'end']);
});

test('failures are told as those of files', async () => {
  const codeOf = (events: readonly LiveEvent[]): string | undefined => {
    const last = events.at(-1);
    assert.ok(last?.kind === 'failed' && last.reason instanceof ServiceError);
    return last.reason.key;
  };
  const short = open(pcm(16000));
  short.live.push(new Uint8Array(320), 0.01);
  assert.equal(codeOf(await finished(short)), 'AUDIO_TOO_SHORT');
  const long = open(pcm(16000), 80, 3);
  long.live.push(new Uint8Array(32000 * 4), 4);
  await until(() => isOver(long));
  assert.equal(codeOf(long.events), 'AUDIO_TOO_LONG');
  const garbage = open({ encoding: 'opus', sampleRateHz: 48000, channels: 1, preSkip: 0 });
  for (let i = 0; i < 20; i++) garbage.live.push(Uint8Array.of(0xff, 0xff, 0xff), 0.02);
  assert.equal(codeOf(await finished(garbage)), 'UNDECODABLE');
});

test('a stream of many tasks leaves nothing behind', async () => {
  const warnings: Error[] = [];
  const note = (warning: Error): void => void warnings.push(warning);
  process.on('warning', note);
  const run = open(pcm(16000));
  for (let i = 0; i < 30; i++) {
    run.live.push(new Uint8Array(32000), 1);
    await until(() => run.live.waitingS === 0);
  }
  await finished(run);
  process.off('warning', note);
  assert.deepEqual(warnings, []);
});

test('a closed stream tells nothing more', async () => {
  const run = open(pcm(16000));
  run.live.push(monoWav(repeated(speech, 16000 * 30), 16000).slice(44), 30);
  await run.live.close();
  const told = run.events.length;
  run.live.push(new Uint8Array(32000), 1);
  run.live.finish();
  const other = open(pcm(16000));
  other.live.push(new Uint8Array(32000 * 6), 6);
  await finished(other);
  assert.equal(run.events.length, told);
});

test('closing the pipeline fails what is open', async () => {
  const modelsDir = path.join(packageDir, 'models');
  const own = await startPipeline({ ...testConfig, modelsDir }, arena.buffer);
  const events: LiveEvent[] = [];
  const onEvent = (event: LiveEvent): void => void events.push(event);
  own.openLive({ format: pcm(16000), model, ...common, owner: 'a', onEvent });
  await own.close();
  assert.equal(events[0]?.kind === 'failed' && (events[0].reason as ServiceError).key, 'STOPPING');
});
