// SPDX-License-Identifier: Apache-2.0
//
// All audio of a file counts, wherever its header puts the end; every route warns of unheard audio.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { before, test } from 'node:test';
import { foreignFormat } from '../../../src/analysis/prepare/foreign-format.js';
import { warningsOf } from '../../../src/analysis/verdict/warnings.js';
import { loadAddon } from '../../../src/base/addon/addon.js';
import { packageDir } from '../../../src/base/config/package-dir.js';
import { fileEntry, formBody } from '../../support/form-body.js';
import { postForm, predict } from '../../support/http-client.js';
import { startPipelineServer } from '../../support/pipeline-server.js';
import { ffmpegInto, pipedByFfmpeg } from '../../support/recordings.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { monoWav } from '../../support/wav.js';
import { waveformPreparer } from '../../support/waveform-preparer.js';

const RATE_HZ = 16_000;
const FIXTURE = path.join(packageDir, 'test/fixtures/human-lj-a.flac');
const STREAMED_BYTES = 0xffffffff;
let speech: Float32Array;
let plain: Buffer;

before(async () => {
  const clip = await readFile(FIXTURE);
  speech = loadAddon()
    .decode(clip)
    .samples.subarray(0, 4 * RATE_HZ);
  plain = Buffer.from(monoWav(speech, RATE_HZ));
});

const half = (which: 0 | 1): Buffer =>
  Buffer.from(monoWav(speech.subarray(which * 2 * RATE_HZ, (which + 1) * 2 * RATE_HZ), RATE_HZ));

function withDataBytes(wav: Buffer, bytes: number): Buffer {
  const changed = Buffer.from(wav);
  changed.writeUInt32LE(bytes, 40);
  return changed;
}

/** The samples that the models get, and the warnings of an answer. */
function heard(file: Uint8Array): { samples: number[]; durationS: number; warnings: string[] } {
  const preparer = waveformPreparer(RATE_HZ);
  const options = { minDurationS: 0.1, maxDurationS: 60, silenceThresholdPercent: 100, timeLimitMs: 60_000 };
  try {
    preparer.open(file, options, new Int32Array(1));
    const window = new Float32Array(preparer.inputSize);
    const samples: number[] = [];
    while (preparer.next(window) !== undefined) samples.push(...window);
    const summary = preparer.summary();
    return { samples, durationS: summary.durationS, warnings: warningsOf({ ...summary, skipped: [] }, 100) };
  } finally {
    preparer.close();
  }
}

const wholeFiles: readonly [what: string, file: () => Buffer][] = [
  ['two files, one after the other', () => Buffer.concat([half(0), half(1)])],
  [
    'streamed files, one after the other',
    () => Buffer.concat([half(0), half(1)].map((wav) => withDataBytes(wav, STREAMED_BYTES))),
  ],
  ['two data chunks', () => Buffer.concat([half(0), half(1).subarray(36)])],
  ['a stream of sox', () => withDataBytes(plain, 0x7ffff000)],
  ['a stream that states the size without its header', () => withDataBytes(plain, STREAMED_BYTES - 36)],
  ['zeros and a tag behind the end', () => Buffer.concat([plain, Buffer.alloc(3000), id3v1()])],
  ['RF64 of a stream', () => byFfmpeg('-rf64', 'always', '-f', 'wav')],
  ['floats', () => byFfmpeg('-c:a', 'pcm_f32le', '-f', 'wav')],
  ['floats in the scale of integers', () => intScaled(byFfmpeg('-c:a', 'pcm_f32le', '-f', 'wav'))],
];

const id3v1 = (): Buffer => Buffer.concat([Buffer.from('TAG'), Buffer.alloc(125)]);

const byFfmpeg = (...options: string[]): Buffer =>
  execFileSync('ffmpeg', ['-nostdin', '-v', 'error', '-i', 'pipe:0', ...options, 'pipe:1'], { input: plain });

function intScaled(wav: Buffer): Buffer {
  const scaled = Buffer.from(wav);
  for (let at = scaled.indexOf('data') + 8; at + 4 <= scaled.length; at += 4)
    scaled.writeFloatLE(scaled.readFloatLE(at) * 32_768, at);
  return scaled;
}

for (const [what, file] of wholeFiles) {
  test(`${what}: the same samples as in a plain file, and no warning`, () => {
    assert.deepEqual(heard(file()), heard(plain));
  });
}

for (const name of ['mp3.wav', 'mp3.mp4', 'mp3.mkv', 'mp3.avi']) {
  test(`zeros before ${name} do not hide its container`, async (t) => {
    const convert = ffmpegInto(temporaryFolder(t));
    const whole = await readFile(convert(FIXTURE, ['-t', '4', '-c:a', 'libmp3lame', name]));
    assert.deepEqual(heard(Buffer.concat([Buffer.alloc(1000), whole])), heard(whole));
  });
}

test('what is not heard, and an end that is missing, have warnings', () => {
  const more = Buffer.alloc(20_000, 0x11);
  assert.deepEqual(heard(Buffer.concat([plain, more])).warnings, [
    'Not analysed: 20000 bytes after 4 s, behind the end that the WAV header states.',
  ]);
  assert.deepEqual(heard(plain.subarray(0, 44 + 3 * 2 * RATE_HZ)).warnings, [
    'Audio is missing: the file states a length of 4 s, but has 3 s.',
  ]);
  const adpcm = byFfmpeg('-c:a', 'adpcm_ms', '-f', 'wav');
  const [warning, ...others] = heard(Buffer.concat([plain, adpcm])).warnings;
  assert.match(warning ?? '', /^Not analysed: \d+ bytes after 4 s, samples of another WAV format\.$/);
  assert.deepEqual(others, []);
});

test('the warnings reach the answers', async (t) => {
  const { port } = await startPipelineServer(t);
  const file = Buffer.concat([plain.subarray(0, 44 + 3 * 2 * RATE_HZ)]);
  const sentence = 'Audio is missing: the file states a length of 4 s, but has 3 s.';
  const answer = await predict(port, formBody([fileEntry(file)]));
  assert.equal(answer.status, 200);
  assert.deepEqual(answer.json.warnings, [sentence]);
  const legacy = await postForm(port, '/v0/predict', formBody([fileEntry(file)]));
  assert.equal(legacy.status, 200);
  assert.deepEqual(legacy.json.error, [sentence]);
});

for (const [format, ...options] of [
  ['ogg'],
  ['webm'],
  ['matroska'],
  ['avi'],
  ['flac'],
  ['mp4', '-movflags', 'empty_moov', '-frag_duration', '500000'],
] as const) {
  const whole = pipedByFfmpeg(FIXTURE, '-t', '3', ...options, '-f', format);

  test(`a header of ${format} without its audio is called incomplete`, () => {
    for (const bytes of [40, 100, 300]) {
      assert.throws(
        () => heard(whole.subarray(0, bytes)),
        /too early, (or )?the upload was cut off/,
        `${bytes} bytes`,
      );
    }
  });

  test(`the later part of ${format} is named, if the format marks its parts`, () => {
    const name = foreignFormat(whole.subarray(whole.length / 2));
    // Nor is a whole file that something precedes.
    assert.equal(foreignFormat(Buffer.concat([Buffer.alloc(512, 1), whole])), undefined);
    if (format === 'flac') assert.equal(name, undefined);
    else assert.match(name ?? '', /^the later part of an? .+ file, without its beginning$/);
  });
}

test('an M4A file without its index says what is missing, and what there is', async (t) => {
  const { port } = await startPipelineServer(t);
  const box = (type: string, bytes: number): Buffer => {
    const box = Buffer.alloc(bytes);
    box.writeUInt32BE(bytes, 0);
    box.write(type, 4, 'latin1');
    return box;
  };
  const file = Buffer.concat([box('ftyp', 24), box('mdat', 40_000)]).subarray(0, 30_000);
  const answer = await predict(port, formBody([fileEntry(file)]));
  assert.equal(answer.status, 422);
  assert.match(answer.json.message, /incomplete: it has no "moov" box/);
  assert.match(answer.json.message, /"ftyp" \(24 bytes\), "mdat" \(29976 of 40000 bytes\)/);
});
