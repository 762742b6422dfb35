// SPDX-License-Identifier: Apache-2.0
//
// `global.reason` of recordings through telephones, filters, codecs and noise, which FFmpeg and this test make.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import type { FullAnalyser } from '../../src/analysis/analyser/recording.js';
import { UploadArena } from '../../src/analysis/memory/arena.js';
import { startPipeline } from '../../src/analysis/pipeline/pipeline.js';
import { loadAddon } from '../../src/base/addon/addon.js';
import { packageDir } from '../../src/base/config/package-dir.js';
import { fileEntry, formBody } from '../support/form-body.js';
import { postForm, predict } from '../support/http-client.js';
import { ffmpegInto, ffmpegMany, noise, powerOf, withNoise } from '../support/recordings.js';
import { startServerWith, testConfig } from '../support/test-server.js';
import { writeTinyModels } from '../support/tiny-models.js';
import { monoWav } from '../support/wav.js';

const RATE_HZ = 16_000;
/** Women and men, human and generated. */
const recordings = ['human-lj-a.flac', 'human-vctk-p237.flac', 'ai-kokoro.flac', 'ai-wavenet-lj.flac'];

const arena = new UploadArena(64 << 20);
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'veravox-conditions-'));
let analyser: FullAnalyser;
let port: number;

before(async () => {
  // Its verdict is neither mixed nor uncertain, so that only reasons of the recording remain.
  const config = { ...testConfig, modelsDir: writeTinyModels(folder, 'high') };
  analyser = await startPipeline(config, arena.buffer);
});

after(async () => {
  await analyser.close();
  fs.rmSync(folder, { recursive: true });
});

/** A server for one test, which keeps the pipeline running. */
async function serve(t: TestContext): Promise<void> {
  const kept: FullAnalyser = {
    analyse: (request) => analyser.analyse(request),
    embed: (request) => analyser.embed(request),
    analyseRecording: (request) => analyser.analyseRecording(request),
    openLive: (request) => analyser.openLive(request),
    status: () => analyser.status(),
    close: async () => {},
  };
  ({ port } = await startServerWith(t, kept, arena, { maxLargeFileBytes: 16 << 20 }));
}

const ffmpeg = ffmpegInto(folder);

async function reasonOf(file: Uint8Array): Promise<string | null> {
  const form = formBody([{ name: 'silence_threshold', content: '100' }, fileEntry(file)]);
  const { status, json, text } = await predict(port, form);
  assert.equal(status, 200, text);
  return json.global.reason;
}

const original = (name: string): string => path.join(packageDir, 'test/fixtures', name);

/** Like the telephone: everything above 3.4 kHz is removed. */
const narrow: readonly [what: string, ...steps: (readonly string[])[]][] = [
  ['8 kHz', ['-ar', '8000', 'a.wav']],
  ['G.711', ['-ar', '8000', '-c:a', 'pcm_mulaw', 'a.wav']],
  [
    'G.711 that became an MP3 at 44.1 kHz',
    ['-ar', '8000', '-c:a', 'pcm_mulaw', 'a.wav'],
    ['-ar', '44100', '-b:a', '128k', 'b.mp3'],
  ],
  ['G.726', ['-ar', '8000', '-c:a', 'g726', '-b:a', '32k', 'a.wav'], ['b.wav']],
  ['an MP3 at 8 kHz', ['-ar', '8000', '-b:a', '16k', 'a.mp3']],
  ['a steep low-pass at 3.4 kHz', ['-af', "firequalizer=gain='if(lt(f,3400),0,-80)':delay=0.05", 'a.wav']],
  ['a telephone between silences', ['-af', 'adelay=5000,apad=pad_dur=5', '-ar', '8000', 'a.wav']],
];
const wide: readonly [what: string, ...steps: (readonly string[])[]][] = [
  ['nothing at all', ['-c:a', 'flac', 'a.flac']],
  ['an MP3 of 64 kbit/s', ['-b:a', '64k', 'a.mp3']],
  ['an MP3 of 32 kbit/s at 22 kHz', ['-ar', '22050', '-b:a', '32k', 'a.mp3']],
  ['AAC of 48 kbit/s', ['-c:a', 'aac', '-b:a', '48k', 'a.m4a']],
  ['Opus of 32 kbit/s', ['-c:a', 'libopus', '-b:a', '32k', 'a.ogg']],
  ['WAV that was Opus of 16 kbit/s', ['-ar', '16000', '-c:a', 'libopus', '-b:a', '16k', 'a.ogg'], ['b.wav']],
  ['Vorbis', ['-c:a', 'libvorbis', '-q:a', '3', 'a.ogg']],
  ['44.1 kHz', ['-ar', '44100', 'a.wav']],
  ['a low level', ['-af', 'volume=-30dB', 'a.wav']],
  ['silences around it', ['-af', 'adelay=5000,apad=pad_dur=5', 'a.wav']],
];
const lowBitRate: readonly [what: string, ...steps: (readonly string[])[]][] = [
  ['Opus of 16 kbit/s', ['-ar', '16000', '-c:a', 'libopus', '-b:a', '16k', 'a.ogg']],
  ['Opus of 12 kbit/s in WebM', ['-ar', '16000', '-c:a', 'libopus', '-b:a', '12k', 'a.webm']],
];
const conditions = (
  [
    ['band_limited', narrow],
    ['low_bit_rate', lowBitRate],
    [null, wide],
  ] as const
).flatMap(([expected, group]) => group.map(([what, ...steps]) => ({ what, steps, expected })));
type Condition = (typeof conditions)[number];

/** The file after the first step: all conditions of a recording are made in one run. */
const firstOf = ({ what, steps }: Condition, name: string): string =>
  `${name}, ${what.replace('/', ' per ')}${path.extname(steps[0]?.at(-1) ?? '')}`;

before(() => {
  for (const name of recordings)
    ffmpegMany(
      folder,
      original(name),
      Object.fromEntries(conditions.map((each) => [firstOf(each, name), each.steps[0]?.slice(0, -1) ?? []])),
    );
});

for (const condition of conditions) {
  const { what, steps, expected } = condition;
  test(`after ${what} the reason is ${expected}`, async (t) => {
    await serve(t);
    for (const name of recordings) {
      const file = steps.slice(1).reduce(ffmpeg, path.join(folder, firstOf(condition, name)));
      assert.equal(await reasonOf(fs.readFileSync(file)), expected, name);
    }
  });
}

/** A recording with noise, by the power of the noise to that of the recording. */
function noisy(name: string, snrDb: number, lowPass: number): Uint8Array {
  const { samples } = loadAddon().decode(fs.readFileSync(original(name)));
  let state = 1;
  const random = (): number => {
    state = (state * 48_271) % 0x7fffffff;
    return state / 0x7fffffff;
  };
  const hiss = noise(samples.length, lowPass, random);
  return monoWav(withNoise(samples, hiss, snrDb, powerOf(samples)), RATE_HZ);
}

for (const [colour, lowPass] of [
  ['white', 0],
  ['dull', 0.8],
] as const) {
  test(`${colour} noise 12 dB below the speech is low_snr; 30 dB below it is not`, async (t) => {
    await serve(t);
    for (const name of recordings) {
      assert.equal(await reasonOf(noisy(name, 12, lowPass)), 'low_snr', name);
      assert.equal(await reasonOf(noisy(name, 30, lowPass)), null, name);
    }
  });
}

test('a large file has the same reason', async (t) => {
  await serve(t);
  const large = ['-ar', '48000', '-ac', '2', '-c:a', 'pcm_f32le', '-t', '14', 'b.wav'];
  for (const [first, expected] of [
    [['-ar', '8000', 'a.wav'], 'band_limited'],
    [['a.wav'], null],
  ] as const) {
    const looped = ['-filter_complex', 'aloop=loop=-1:size=2e9', ...large];
    const file = fs.readFileSync(ffmpeg(ffmpeg(original('human-lj-a.flac'), first), looped));
    const answer = await postForm(port, '/v1/predict/large-file', formBody([fileEntry(file)]));
    assert.equal(answer.status, 200, answer.text);
    assert.equal(answer.json.global.reason, expected);
  }
});
