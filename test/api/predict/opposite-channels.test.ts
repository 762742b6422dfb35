// SPDX-License-Identifier: Apache-2.0
//
// The mix keeps a voice from channels of opposite polarity, and channels without stated places count alike.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { loadAddon } from '../../../src/base/addon/addon.js';
import { packageDir } from '../../../src/base/config/package-dir.js';
import { fileEntry, formBody } from '../../support/form-body.js';
import { predict } from '../../support/http-client.js';
import { startPipelineServer } from '../../support/pipeline-server.js';
import { ffmpegInto, powerOf } from '../../support/recordings.js';

const addon = loadAddon();
const SPEECH = path.join(packageDir, 'test/fixtures/human-lj-a.flac');
const folder = mkdtempSync(path.join(os.tmpdir(), 'veravox-channels-'));
const convert = ffmpegInto(folder);

after(() => rmSync(folder, { recursive: true, force: true }));

const mixOf = (filter: string, name: string, ...options: readonly string[]): Float32Array =>
  addon.decode(readFileSync(convert(SPEECH, ['-af', filter, ...options, name]))).samples;
const mono = (): Float32Array => addon.decode(readFileSync(SPEECH)).samples;

function differenceDb(a: Float32Array, b: Float32Array): number {
  return 10 * Math.log10(powerOf(a.map((x, i) => x - (b[i] ?? 0))) / powerOf(b));
}

test('an inverted side does not cancel the other', () => {
  for (const name of ['inverted.wav', 'inverted.flac']) {
    assert.ok(differenceDb(mixOf('pan=stereo|c0=c0|c1=-1*c0', name), mono()) < -80, name);
  }
  const lossy = mixOf('pan=stereo|c0=c0|c1=-1*c0', 'inverted.m4a', '-b:a', '192k');
  assert.ok(powerOf(lossy) > 0.8 * powerOf(mono()));
  const quieter = mixOf('pan=stereo|c0=c0|c1=-0.8*c0', 'quieter.wav');
  assert.ok(powerOf(quieter) > 0.7 * powerOf(mono()));
});

/** The voice in channels of a WAV file without stated places, each with a gain. */
function mixOfPlain(gains: readonly number[]): Float32Array {
  const voice = mono();
  const bytes = Buffer.alloc(44 + 4 * gains.length * voice.length);
  bytes.write('RIFF', 0);
  bytes.writeUInt32LE(bytes.length - 8, 4);
  bytes.write('WAVEfmt ', 8);
  bytes.writeUInt32LE(16, 16);
  bytes.writeUInt16LE(3, 20);
  bytes.writeUInt16LE(gains.length, 22);
  bytes.writeUInt32LE(16000, 24);
  bytes.writeUInt32LE(16000 * 4 * gains.length, 28);
  bytes.writeUInt16LE(4 * gains.length, 32);
  bytes.writeUInt16LE(32, 34);
  bytes.write('data', 36);
  bytes.writeUInt32LE(bytes.length - 44, 40);
  voice.forEach((sample, i) => {
    for (const [c, gain] of gains.entries())
      bytes.writeFloatLE(gain * sample, 44 + 4 * (i * gains.length + c));
  });
  return addon.decode(bytes).samples;
}

test('an inverted channel among six does not cancel another', () => {
  const mix = mixOfPlain([1, 0, -1, 0, 0, 0]);
  assert.ok(Math.abs(Math.sqrt(powerOf(mix) / powerOf(mono())) - 2 / 6) < 0.01);
});

test('a side that is inverted for a while is heard again within a second', () => {
  const voice = mono();
  const mix = mixOf(
    'pan=stereo|c0=c0|c1=c0,aeval=val(0)|val(1)*(1-2*between(t\\,3\\,6)):c=same',
    'turns.wav',
  );
  for (const second of [0, 1, 2, 4, 5, 7]) {
    const [from, to] = [second * 16000, (second + 1) * 16000];
    const before = powerOf(voice.subarray(from, to));
    assert.ok(powerOf(mix.subarray(from, to)) > 0.9 * before, `second ${second}`);
  }
});

test('sides with sounds of their own, or with opposite offsets, are mixed as ever', () => {
  const offsets = mixOf('pan=stereo|c0=c0|c1=c0,aeval=0.5*val(0)+0.2|0.5*val(1)-0.2:c=same', 'offsets.wav');
  assert.ok(
    differenceDb(
      offsets.map((x) => 2 * x),
      mono(),
    ) < -60,
  );
  const late = mixOf('pan=stereo|c0=c0|c1=c0,adelay=0|900', 'apart.wav');
  const expected = mixOf(
    'asplit[a][b];[b]adelay=900[c];[a][c]amix=inputs=2:normalize=0,volume=0.5',
    'sum.wav',
  );
  assert.ok(differenceDb(late, expected) < -60);
});

test('channels without stated places count alike', () => {
  for (let channel = 0; channel < 6; channel++) {
    const mix = mixOfPlain(Array.from({ length: 6 }, (_, c) => (c === channel ? 1 : 0)));
    assert.ok(
      differenceDb(
        mix.map((x) => 6 * x),
        mono(),
      ) < -60,
      `channel ${channel}`,
    );
  }
});

test('the answer is that of the mono file, and says that channels were inverted', async (t) => {
  const { port } = await startPipelineServer(t);
  const file = convert(SPEECH, ['-af', 'pan=stereo|c0=c0|c1=-1*c0', 'answer.wav']);
  const answer = async (name: string) =>
    (await predict(port, formBody([fileEntry(readFileSync(name))]))).json;
  const [inverted, plain] = [await answer(file), await answer(SPEECH)];
  assert.ok(Math.abs(inverted.global.score - plain.global.score) < 0.01);
  assert.match(inverted.warnings.join(), /opposite polarity .* channels=separate/);
  assert.deepEqual(plain.warnings, []);
});
