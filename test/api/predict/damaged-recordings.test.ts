// SPDX-License-Identifier: Apache-2.0
//
// Truncated and damaged recordings: a warning says what is missing, and where. FFmpeg makes the files, and finds the gaps.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { loadAddon } from '../../../src/base/addon/addon.js';
import { packageDir } from '../../../src/base/config/package-dir.js';
import { ffmpegInto } from '../../support/recordings.js';

const addon = loadAddon();
const SPEECH = path.join(packageDir, 'test/fixtures/human-lj-a.flac');
const folder = mkdtempSync(path.join(os.tmpdir(), 'veravox-damaged-'));
const convert = ffmpegInto(folder);

after(() => rmSync(folder, { recursive: true, force: true }));

const made = (name: string, ...options: readonly string[]): Buffer =>
  readFileSync(convert(SPEECH, ['-t', '3', ...options, name]));

/** The same bytes each time. */
const noise = (bytes: number): Buffer =>
  createHash('shake256', { outputLength: bytes }).update('noise').digest();

/** The time at which FFmpeg leaves the longest gap open. */
function longestGapS(file: string): number {
  const shown = ['-show_entries', 'packet=pts_time', '-of', 'csv=p=0'];
  const starts = execFileSync('ffprobe', ['-v', 'quiet', ...shown, file], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .map(Number.parseFloat)
    .filter(Number.isFinite);
  const gaps = starts.map((start, i) => [(starts[i + 1] ?? start) - start, start] as const);
  return gaps.sort(([a], [b]) => b - a)[0]?.[1] ?? Number.NaN;
}

const BARE_MP3 = ['-id3v2_version', '0', '-write_xing', '0'];

for (const name of ['cut.mp3', 'cut.flac', 'cut.avi', 'cut.mkv', 'cut.webm', 'cut.ogg', 'cut.mp4']) {
  test(`${name} lacks its end, and the whole file does not`, () => {
    const options = name.endsWith('mp4') ? ['-movflags', 'faststart'] : [];
    const whole = made(name, ...options);
    assert.equal(addon.decode(whole).statedLength, undefined);
    const { samples, sampleRateHz, statedLength } = addon.decode(whole.subarray(0, whole.length * 0.6));
    assert.ok(statedLength !== undefined);
    assert.ok(Math.abs(statedLength.foundS - samples.length / sampleRateHz) < 1e-3);
    // An Ogg page does not tell how many follow.
    if (name !== 'cut.ogg') assert.ok(Math.abs((statedLength.statedS ?? 0) - 3) < 0.1);
  });
}

const damages: Readonly<Record<string, (bytes: Buffer, at: number) => void>> = {
  'a wrong bit': (bytes, at) => bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at),
  'a page header without its capture pattern': (bytes, at) => {
    const page = bytes.lastIndexOf('OggS', at);
    bytes.fill(0, page, page + 4);
  },
  'zeros over several pages': (bytes, at) => bytes.fill(0, at, at + Math.floor(bytes.length / 4)),
};
for (const [codec, damage] of ['libopus', 'libvorbis', 'flac'].flatMap((codec) =>
  Object.keys(damages).map((damage) => [codec, damage] as const),
)) {
  test(`Ogg with ${codec} names the place of ${damage}, and nothing in the undamaged file`, () => {
    const name = `damaged-${codec}.ogg`;
    const bytes = made(name, '-c:a', codec, '-page_duration', '200000');
    const whole = addon.decode(bytes);
    assert.deepEqual(whole.unheard, []);
    damages[damage]?.(bytes, Math.floor(bytes.length / 2));
    writeFileSync(path.join(folder, name), bytes);
    const { samples, sampleRateHz, unheard } = addon.decode(bytes);
    // A codec may begin behind a gap in the middle of a packet.
    assert.ok(Math.abs(samples.length - whole.samples.length) / sampleRateHz < 0.02, `${samples.length}`);
    assert.equal(unheard?.length, 1);
    const [place] = unheard;
    assert.ok(place !== undefined && place.bytes > 100 && place.bytes < bytes.length / 2);
    const gapS = longestGapS(path.join(folder, name));
    assert.ok(Math.abs(place.atS - gapS) < 0.25, `${place.atS} s, not ${gapS} s`);
    assert.ok(samples.length / sampleRateHz > 2.9);
  });
}

for (const [name, ...options] of [['bare.mp3', ...BARE_MP3], ['cut.mp2'], ['cut.aac']] as const) {
  test(`${name} states no length, but ends inside a frame`, () => {
    const whole = made(name, ...options);
    assert.equal(addon.decode(whole).statedLength, undefined);
    const id3v1 = Buffer.concat([Buffer.from('TAG'), Buffer.alloc(125)]);
    for (const rest of [Buffer.alloc(0), id3v1]) {
      assert.equal(addon.decode(Buffer.concat([whole, rest])).statedLength, undefined);
      const cut = whole.subarray(0, whole.length * 0.6);
      const { samples, sampleRateHz, statedLength } = addon.decode(Buffer.concat([cut, rest]));
      assert.deepEqual(statedLength, { foundS: samples.length / sampleRateHz });
    }
  });
}

for (const [name, ...options] of [
  ['middle.webm', '-c:a', 'libopus', '-cluster_time_limit', '500'],
  ['live.webm', '-c:a', 'libopus', '-cluster_time_limit', '500', '-live', '1'],
  ['pcm.mkv', '-c:a', 'pcm_s16le', '-cluster_time_limit', '500'],
  ['vorbis.mkv', '-c:a', 'libvorbis', '-cluster_time_limit', '500'],
] as const) {
  for (const [damage, spoil] of [
    ['noise', (bytes: Buffer, at: number, end: number) => noise(end - at).copy(bytes, at)],
    ['zeros', (bytes: Buffer, at: number, end: number) => bytes.fill(0, at, end)],
    ['a hole', (bytes: Buffer, at: number, end: number) => bytes.copy(bytes, at, end)],
  ] as const) {
    test(`${name} names the place of ${damage}, and nothing in the undamaged file`, () => {
      const bytes = made(name, ...options);
      const whole = addon.decode(bytes);
      assert.deepEqual(whole.unheard, []);
      const [begin, end] = [Math.floor(bytes.length * 0.5), Math.floor(bytes.length * 0.6)];
      spoil(bytes, begin, end);
      const spoilt = damage === 'a hole' ? bytes.subarray(0, bytes.length - (end - begin)) : bytes;
      writeFileSync(path.join(folder, name), spoilt);
      const { samples, sampleRateHz, unheard } = addon.decode(spoilt);
      // Its time counts as silence.
      assert.ok(Math.abs(samples.length - whole.samples.length) / sampleRateHz < 0.1, `${samples.length}`);
      assert.equal(unheard?.length, 1);
      const [place] = unheard;
      assert.equal(place?.what, 'damaged data');
      const gapS = longestGapS(path.join(folder, name));
      assert.ok(Math.abs((place?.atS ?? 0) - gapS) < 0.1, `${place?.atS} s, not ${gapS} s`);
      assert.ok((place?.bytes ?? 0) > bytes.length * 0.01 && (place?.bytes ?? 0) < bytes.length * 0.35);
    });
  }
}

for (const [name, ...options] of [
  ['junk.mp3'],
  ['bare.mp3', ...BARE_MP3],
  ['junk.mp2'],
  ['junk.aac'],
] as const) {
  const text = Buffer.from('A text without a meaning.\n'.repeat(400));
  for (const [kind, junk] of Object.entries({ text, noise: noise(10_000) })) {
    test(`${kind} behind, between and in front of the frames of ${name} is named`, () => {
      const bytes = made(name, ...options);
      const whole = addon.decode(bytes);
      assert.deepEqual(whole.unheard, []);
      const wholeS = whole.samples.length / whole.sampleRateHz;
      const behind = addon.decode(Buffer.concat([bytes, junk])).unheard;
      assert.deepEqual(
        behind?.map((place) => [place.bytes, place.what]),
        [[junk.length, 'damaged data']],
      );
      assert.ok(Math.abs((behind?.[0]?.atS ?? 0) - wholeS) < 0.1);
      const at = bytes.length / 2;
      const between = addon.decode(Buffer.concat([bytes.subarray(0, at), junk, bytes.subarray(at)])).unheard;
      assert.equal(between?.length, 1);
      // The frame into which it falls is also damaged.
      const [place] = between;
      assert.ok((place?.bytes ?? 0) > junk.length * 0.9 && (place?.bytes ?? 0) < junk.length + 1500);
      assert.ok(Math.abs((place?.atS ?? 0) - wholeS / 2) < 0.3, `${place?.atS} s`);
      const front = addon.decode(Buffer.concat([junk, bytes])).unheard;
      assert.deepEqual(
        front?.map(({ bytes, atS }) => [bytes, atS]),
        [[junk.length, 0]],
      );
      // As radio streams begin.
      assert.deepEqual(addon.decode(bytes.subarray(bytes.length / 3)).unheard, []);
    });
  }
}

for (const [codec, blockSize] of ['adpcm_ms', 'adpcm_ima_wav'].flatMap((codec) =>
  ['256', '1024'].map((size) => [codec, size] as const),
)) {
  test(`a damaged block of ${blockSize} bytes of ${codec} leaves the rest of a WAV file as it was`, () => {
    const bytes = made(`${codec}-${blockSize}.wav`, '-c:a', codec, '-block_size', blockSize);
    const whole = addon.decode(bytes);
    const blockBytes = bytes.readUInt16LE(32);
    const data = bytes.indexOf('data') + 8;
    const block = data + blockBytes * 20;
    bytes.fill(0xff, block, block + blockBytes);
    const { samples, damagedPackets } = addon.decode(bytes);
    assert.equal(damagedPackets, 1);
    const lost = whole.samples.length - samples.length;
    const blockSamples = whole.samples.length / Math.ceil((bytes.length - data) / blockBytes);
    assert.ok(lost < blockSamples * 1.5, `${lost}`);
    assert.deepEqual(samples.slice(-1000), whole.samples.slice(-1000));
  });
}
