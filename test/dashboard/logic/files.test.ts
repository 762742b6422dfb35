// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { compared } from '../../../dashboard/src/logic/differences.js';
import { stagesOf } from '../../../dashboard/src/logic/server-timing.js';
import { durationOf, monoOf, type ReadPart, wavFormatOf } from '../../../dashboard/src/logic/wav.js';
import type { ScoredWindow } from '../../../dashboard/src/logic/windows.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

const readerOf =
  (file: Uint8Array): ReadPart =>
  async (offset, bytes) =>
    new Uint8Array(file.subarray(offset, offset + bytes)).buffer;

async function samplesOf(file: Uint8Array): Promise<{ durationS: number; samples: Float32Array }> {
  const read = readerOf(file);
  const format = await wavFormatOf(read, file.length);
  assert.ok(format, 'It is no WAV file.');
  return {
    durationS: durationOf(format),
    samples: monoOf(await read(format.offset, format.bytes), format),
  };
}

test('uncompressed samples of every kind are read as FFmpeg reads them', async (t) => {
  const folder = temporaryFolder(t);
  for (const [channels, signal] of [
    [1, '0.6*sin(2000*t)'],
    [2, '0.6*sin(2000*t)|0.3*cos(700*t)'],
  ] as const) {
    for (const codec of ['pcm_u8', 'pcm_s16le', 'pcm_s24le', 'pcm_s32le', 'pcm_f32le', 'pcm_f64le']) {
      const at = path.join(folder, `${codec}-${channels}.wav`);
      const source = ['-f', 'lavfi', '-i', `aevalsrc=${signal}:s=8000:d=0.25`];
      execFileSync('ffmpeg', ['-v', 'error', '-y', ...source, '-c:a', codec, at]);
      const raw = execFileSync('ffmpeg', ['-v', 'error', '-i', at, '-f', 'f32le', '-']);
      const all = new Float32Array(new Uint8Array(raw).buffer);
      const { durationS, samples } = await samplesOf(fs.readFileSync(at));
      assert.equal(durationS, 0.25);
      assert.equal(samples.length * channels, all.length);
      samples.forEach((sample, i) => {
        const frame = all.subarray(i * channels, (i + 1) * channels);
        const expected = frame.reduce((sum, each) => sum + each, 0) / channels;
        assert.ok(Math.abs(sample - expected) < 1e-6, `${codec} ${channels} at ${i}`);
      });
    }
  }
});

test('what is no uncompressed WAV file is none', async (t) => {
  const folder = temporaryFolder(t);
  const compressed = path.join(folder, 'a.wav');
  const sine = ['-f', 'lavfi', '-i', 'sine=sample_rate=8000:duration=1'];
  execFileSync('ffmpeg', ['-v', 'error', '-y', ...sine, '-c:a', 'pcm_mulaw', compressed]);
  const files = [
    fs.readFileSync(compressed),
    Buffer.from('RIFF\0\0\0\0WAVE', 'latin1'),
    Buffer.from('RIFF\0\0\0\0WAVEfmt \xff\xff\xff\xff', 'latin1'),
    Buffer.from('ID3', 'latin1'),
    Buffer.alloc(0),
    Buffer.alloc(5000),
  ];
  for (const file of files) assert.equal(await wavFormatOf(readerOf(file), file.length), undefined);
});

test('a length that the writer did not know, and one beyond the end, are the rest of the file', async (t) => {
  const at = path.join(temporaryFolder(t), 'a.wav');
  const sine = ['-f', 'lavfi', '-i', 'sine=sample_rate=8000:duration=1'];
  execFileSync('ffmpeg', ['-v', 'error', '-y', ...sine, '-bitexact', at]);
  const file = fs.readFileSync(at);
  const sizeAt = file.indexOf('data', 0, 'latin1') + 4;
  for (const size of [0, 0xffff_ffff, 0x7fff_ffff]) {
    file.writeUInt32LE(size, sizeAt);
    assert.equal((await samplesOf(file)).durationS, 1);
  }
});

test('stages are read from the header of the server', () => {
  assert.deepEqual(stagesOf('receive;dur=1.5, queue;dur=0, inference;dur=30.25'), [
    { name: 'receive', ms: 1.5 },
    { name: 'queue', ms: 0 },
    { name: 'inference', ms: 30.25 },
  ]);
  assert.deepEqual(stagesOf('cache;desc="x", broken;dur=abc, a;desc=b;dur=2'), [{ name: 'a', ms: 2 }]);
  assert.deepEqual(stagesOf(''), []);
});

test('two models are compared on the windows that both have judged', () => {
  const window = (startS: number, score: number): ScoredWindow => ({
    ...{ startS, endS: startS + 5, score, confidence: 0.5 },
    result: score >= 0.5 ? 'spoofed' : 'bonafide',
  });
  const found = compared([window(0, 0.1), window(5, 0.4), window(10, 0.9)], [window(5, 0.8), window(10, 1)]);
  assert.equal(found.shared, 2);
  assert.deepEqual(
    found.disagreements.map(({ startS }) => startS),
    [5],
  );
  assert.ok(Math.abs((found.meanDifference ?? 0) - 0.25) < 1e-9);
  assert.equal(found.largest?.startS, 5);
  assert.equal(compared([], [window(0, 1)]).meanDifference, undefined);
});
