// SPDX-License-Identifier: Apache-2.0
//
// Enrolment and verification through the whole server: real audio and real threads. The speaker model is the long-term
// average spectrum, which tells the voices of the fixtures apart; the shipped detector gets a bias that fixes its answer,
// since its quality does not matter here.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { setImmediate as nextTick } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { FullAnalyser } from '../../../src/analysis/analyser/recording.js';
import { UploadArena } from '../../../src/analysis/memory/arena.js';
import { startPipeline } from '../../../src/analysis/pipeline/pipeline.js';
import { loadAddon } from '../../../src/base/addon/addon.js';
import type { Config } from '../../../src/base/config/options.js';
import { packageDir } from '../../../src/base/config/package-dir.js';
import { temporaryFolder } from '../../support/cli.js';
import type { Answer } from '../../support/http-client.js';
import { averageSpectrum, writeModels } from '../../support/speaker-models.js';
import { API_KEY, startServerWith, testConfig } from '../../support/test-server.js';
import { audioEntry, enroll, field, vectorEntry, verify } from '../../support/voiceid-client.js';
import { monoWav, repeated } from '../../support/wav.js';

const RATE_HZ = 16000;
const fixturePath = (name: string) => path.join(packageDir, 'test/fixtures', name);

const arena = new UploadArena(64 << 20);
const humanBias = -30;
const generatedBias = 30;
const speaker = averageSpectrum();
let folder: string;
let analyser: FullAnalyser;
/** Ten seconds and more, human. */
let speech: Float32Array;
let sameSpeaker: Uint8Array;
let enrolled: number[] | undefined;

async function samplesOf(name: string): Promise<Float32Array> {
  return loadAddon().decode(await readFile(fixturePath(name))).samples;
}

function start(modelsDir: string): Promise<FullAnalyser> {
  return startPipeline({ ...testConfig, modelsDir, prepareThreads: 2, scoringThreads: 2 }, arena.buffer);
}

/** A separate server for one test, which keeps the shared pipeline running. */
async function serve(t: TestContext, overrides: Partial<Config> = {}, by: FullAnalyser = analyser) {
  const kept: FullAnalyser = {
    analyse: (request) => by.analyse(request),
    embed: (request) => by.embed(request),
    analyseRecording: (request) => by.analyseRecording(request),
    openLive: (request) => by.openLive(request),
    status: () => by.status(),
    close: async () => {},
  };
  return startServerWith(t, kept, arena, overrides);
}

before(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'veravox-test-'));
  analyser = await start(writeModels(folder, [speaker], humanBias));
  speech = repeated(await samplesOf('human-lj-a.flac'), 40 * RATE_HZ);
  sameSpeaker = await readFile(fixturePath('human-lj-b.flac'));
});

after(async () => {
  await analyser.close();
  await rm(folder, { recursive: true });
});

/** The voice of the fixture, enrolled once. */
async function vectorOf(port: number): Promise<number[]> {
  enrolled ??= (await enroll(port, [wav(first(12))])).json.embedding as number[];
  return enrolled;
}

const wav = (samples: Float32Array) => audioEntry(monoWav(samples, RATE_HZ));
const first = (seconds: number) => speech.subarray(0, Math.round(seconds * RATE_HZ));

/** Silence of this length with pieces of speech in it. */
function sparse(seconds: number, pieces: readonly (readonly [atS: number, lengthS: number])[]): Float32Array {
  const samples = new Float32Array(seconds * RATE_HZ);
  for (const [atS, lengthS] of pieces) {
    samples.set(speech.subarray(RATE_HZ, RATE_HZ + Math.round(lengthS * RATE_HZ)), atS * RATE_HZ);
  }
  return samples;
}

function assertRefused(answer: Answer, status: number, error: string, message: RegExp): void {
  assert.equal(answer.status, status, answer.text);
  assert.equal(answer.json.error, error);
  assert.match(answer.json.message, message);
  assert.equal(arena.usedBytes, 0);
}

test('enroll: below 10 s of audio is 400 with both durations, 10 s is enough', async (t) => {
  const { port } = await serve(t);
  const sized = (samples: number) => enroll(port, [wav(speech.subarray(0, samples))]);
  assertRefused(await sized(159_999), 400, 'validation_error', / 9\.999 s long; at least 10 s are required/);
  assertRefused(await sized(RATE_HZ), 400, 'validation_error', / 1 s long; at least 10 s are required/);
  assert.equal((await sized(160_000)).status, 200);
  assert.equal((await sized(160_001)).status, 200);
});

test('verify: below 1 s of audio is 400 with both durations, although detection takes no less either', async (t) => {
  const { port } = await serve(t);
  const vector = vectorEntry(await vectorOf(port));
  const sized = (samples: number) => verify(port, [wav(speech.subarray(RATE_HZ, RATE_HZ + samples)), vector]);
  assertRefused(await sized(15_999), 400, 'validation_error', / 0\.999 s long; at least 1 s are required/);
  assertRefused(await sized(100), 400, 'validation_error', / 0\.006 s long; at least 1 s are required/);
  assert.equal((await sized(1.5 * RATE_HZ)).status, 200);
});

test('too little speech is 400 with measured and required seconds', async (t) => {
  const { port } = await serve(t);
  const little = wav(sparse(12, [[2, 1.5]]));
  assertRefused(
    await enroll(port, [little]),
    400,
    'validation_error',
    /contains [12]\.\d+ s of speech; at least 3 s/,
  );
  const none = wav(new Float32Array(12 * RATE_HZ));
  assertRefused(await enroll(port, [none]), 400, 'validation_error', /contains 0 s of speech; at least 3 s/);
  const click = [wav(sparse(5, [[2, 0.3]])), vectorEntry(await vectorOf(port))];
  assertRefused(
    await verify(port, click),
    400,
    'validation_error',
    /contains 0\.\d+ s of speech; at least 1 s/,
  );
});

test('speech that is spread too thinly for any window is enough where its sum is', async (t) => {
  const { port } = await serve(t);
  const thin = sparse(20, [
    [1, 0.6],
    [6, 0.6],
    [11, 0.6],
  ]);
  const answer = await verify(port, [wav(thin), vectorEntry(await vectorOf(port))]);
  assert.equal(answer.status, 200, answer.text);
});

test('audio over the duration limit is 413, audio of just that length is not', async (t) => {
  const { port } = await serve(t, { maxVoiceidDurationS: 12 });
  assert.equal((await enroll(port, [wav(first(12))])).status, 200);
  const over = await enroll(port, [wav(speech.subarray(0, 12 * RATE_HZ + 1))]);
  assertRefused(over, 413, 'payload_too_large', /at least 12\.001 s long; at most 12 s/);
});

const noAudio: readonly [what: string, content: () => Uint8Array | Promise<Uint8Array>][] = [
  ['text', () => Buffer.from('<!doctype html><title>no audio</title>')],
  ['noise', () => Buffer.from(Array.from({ length: 50_000 }, (_, i) => (i * i * 31 + (i >> 3)) & 255))],
  [
    'a picture',
    () => Buffer.from('89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489', 'hex'),
  ],
  ['a FLAC without frames', async () => (await readFile(fixturePath('human-lj-a.flac'))).subarray(0, 60)],
  ['a FLAC of zeros', async () => (await readFile(fixturePath('human-lj-a.flac'))).fill(0, 100)],
];
for (const [what, content] of noAudio) {
  test(`${what} is 422 for both`, async (t) => {
    const { port } = await serve(t);
    const audio = audioEntry(await content());
    const unsupported = /not in a supported format|could not be decoded|no audio/;
    assertRefused(await enroll(port, [audio]), 422, 'unsupported_format', unsupported);
    assertRefused(
      await verify(port, [audio, vectorEntry(await vectorOf(port))]),
      422,
      'unsupported_format',
      unsupported,
    );
  });
}

test('an AI-generated voice is 403 for both, and enrolled with the policy flag', async (t) => {
  const suspicious = await start(writeModels(temporaryFolder(t), [speaker], generatedBias));
  t.after(() => suspicious.close());
  const { port: human } = await serve(t);
  const { port } = await serve(t, {}, suspicious);
  const refused = [
    await enroll(port, [wav(first(12))]),
    await verify(port, [wav(first(2)), vectorEntry(await vectorOf(human))]),
  ];
  for (const { status, json } of refused) {
    assert.equal(status, 403);
    assert.equal(json.message.type, 'forbidden_error');
    assert.match(json.message.detail, /AI-generated with a confidence of (100\.0|9\d\.\d)%\.$/);
  }
  const { port: flagging } = await serve(t, { enrollAuthenticity: 'flag' }, suspicious);
  const flagged = await enroll(flagging, [wav(first(12))]);
  assert.equal(flagged.status, 200);
  assert.ok(Number(flagged.headers['x-deepfake-flagged']) >= 0.5);
  assert.equal(arena.usedBytes, 0);
});

test('a voiceprint of another model is 400', async (t) => {
  const other = await start(
    writeModels(
      temporaryFolder(t),
      [averageSpectrum({ id: 'another-model', operators: ['Neg'] })],
      humanBias,
    ),
  );
  t.after(() => other.close());
  const { port } = await serve(t);
  const { port: otherPort } = await serve(t, {}, other);
  const foreign = (await enroll(otherPort, [wav(first(12))])).json.embedding as number[];
  const rounded = foreign.map((x) => Number(x.toFixed(3)));
  for (const vector of [foreign, rounded]) {
    const answer = await verify(port, [audioEntry(sameSpeaker), vectorEntry(vector)]);
    assertRefused(answer, 400, 'validation_error', /embedding made by average-spectrum/);
    assert.equal((await verify(otherPort, [audioEntry(sameSpeaker), vectorEntry(vector)])).status, 200);
  }
});

test('clients that go away in the middle leave no memory taken and no slot, and disturb nobody', async (t) => {
  const { port, origin } = await serve(t);
  const file = new Blob([monoWav(first(40), RATE_HZ)]);
  const expected = (await enroll(port, [wav(first(12))])).json.embedding;
  for (let round = 0; round < 20; round++) {
    const abort = new AbortController();
    const form = new FormData();
    form.append('audio_file', file, 'voice.wav');
    const headers = { 'x-api-key': API_KEY };
    const request = fetch(`${origin}/v1/voiceid/enroll`, {
      method: 'POST',
      headers,
      body: form,
      signal: abort.signal,
    });
    const ended = request.then(
      () => true,
      () => true,
    );
    // Each round leaves a little later.
    while (arena.usedBytes === 0) await nextTick();
    for (let i = 0; i < round * 3; i++) await nextTick();
    abort.abort();
    await ended;
  }
  while (arena.usedBytes > 0) await nextTick();
  assert.deepEqual((await enroll(port, [wav(first(12))])).json.embedding, expected);
});

test('the same voice matches, another does not', async (t) => {
  const { port } = await serve(t);
  const same = await verify(port, [audioEntry(sameSpeaker), vectorEntry(await vectorOf(port))]);
  assert.equal(same.status, 200, same.text);
  assert.equal(same.json.is_match, true);
  const otherVoice = await readFile(fixturePath('human-vctk-p237.flac'));
  const other = await verify(port, [audioEntry(otherVoice), vectorEntry(await vectorOf(port))]);
  assert.equal(other.json.is_match, false);
  assert.ok(same.json.similarity_score > other.json.similarity_score);
  assert.equal(same.json.model_version, 'average-spectrum');
});

test('the sample that was enrolled is as similar to itself as can be, also in base64', async (t) => {
  const { port } = await serve(t);
  const vector = await vectorOf(port);
  const base64 = Buffer.from(Float32Array.from(vector).buffer).toString('base64');
  const { scale, bias } = speaker.entry.calibration;
  const highest = 1 / (1 + Math.exp(-(scale + bias)));
  for (const entry of [vectorEntry(vector), field('voice_vector', base64)]) {
    const { json } = await verify(port, [wav(first(12)), entry]);
    assert.ok(Math.abs(json.similarity_score - highest) < 1e-5, String(json.similarity_score));
  }
});

const formats: readonly (readonly string[])[] = [
  ['-c:a', 'pcm_s16le', 'voice.wav'],
  ['-c:a', 'flac', 'voice.flac'],
  ['-c:a', 'libmp3lame', '-b:a', '192k', 'voice.mp3'],
  ['-c:a', 'aac', '-b:a', '192k', 'voice.aac'],
  ['-c:a', 'libvorbis', '-q:a', '9', 'voice.ogg'],
  ['-c:a', 'aac', '-b:a', '192k', 'voice.m4a'],
];
for (const encoding of formats) {
  const name = encoding.at(-1) as string;
  test(`${name} is enrolled and verified`, async (t) => {
    const { port } = await serve(t);
    const file = path.join(temporaryFolder(t), name);
    const input = fixturePath('human-lj-a.flac');
    const args = [
      '-v',
      'error',
      '-stream_loop',
      '1',
      '-i',
      input,
      '-t',
      '12',
      ...encoding.slice(0, -1),
      file,
    ];
    await promisify(execFile)('ffmpeg', args);
    const audio = audioEntry(await readFile(file));
    const answer = await enroll(port, [audio, field('user_id', 'someone')]);
    assert.equal(answer.status, 200, answer.text);
    const verified = await verify(port, [audio, vectorEntry(answer.json.embedding)]);
    assert.equal(verified.json.is_match, true);
    assert.equal(arena.usedBytes, 0);
  });
}
