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
import { ffmpegInto, pipedByFfmpeg } from '../../support/recordings.js';

const addon = loadAddon();
const SPEECH = path.join(packageDir, 'test/fixtures/human-lj-a.flac');
const folder = mkdtempSync(path.join(os.tmpdir(), 'veravox-damaged-'));
const convert = ffmpegInto(folder);

after(() => rmSync(folder, { recursive: true, force: true }));

const madeBefore = new Map<string, Buffer>();

/** A file of its own, made by the first test that needs one with this ending and these options. */
function made(name: string, ...options: readonly string[]): Buffer {
  const what = [...options, path.extname(name)].join(' ');
  const bytes = madeBefore.get(what) ?? readFileSync(convert(SPEECH, ['-t', '3', ...options, name]));
  madeBefore.set(what, bytes);
  return Buffer.from(bytes);
}

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

const PIPED_AVI = 'pipe.avi';
const pipedAvi = pipedByFfmpeg(SPEECH, '-t', '3', '-f', 'avi');

const BARE_MP3 = ['-id3v2_version', '0', '-write_xing', '0'];

for (const name of [
  'cut.mp3',
  'cut.flac',
  'cut.avi',
  'pcm.avi',
  'vorbis.avi',
  'aac.avi',
  'cut.mkv',
  'cut.webm',
  'cut.ogg',
  'cut.mp4',
  'pcm.mov',
]) {
  test(`${name} lacks its end, and the whole file does not`, () => {
    const options = /mp4|mov/.test(name) ? ['-movflags', 'faststart'] : [];
    const codec = { pcm: 'pcm_s16le', vorbis: 'libvorbis', aac: 'aac' }[name.split('.')[0] ?? ''];
    if (codec !== undefined) options.push('-c:a', codec);
    const whole = made(name, ...options);
    assert.equal(addon.decode(whole).statedLength, undefined);
    const cut = addon.decode(whole.subarray(0, whole.length * 0.6));
    const { samples, sampleRateHz, statedLength, unheard } = cut;
    assert.deepEqual(unheard, []);
    assert.ok(statedLength !== undefined);
    assert.ok(Math.abs(statedLength.foundS - samples.length / sampleRateHz) < 1e-3);
    // An Ogg page does not tell how many follow.
    if (name !== 'cut.ogg') assert.ok(Math.abs((statedLength.statedS ?? 0) - 3) < 0.1);
  });
}

for (const bytes of [0, 4, 0x7f_ff_ff_ff]) {
  test(`an AVI file without lengths whose header states ${bytes} bytes is complete, and a file behind it is heard`, () => {
    const whole = Buffer.from(pipedAvi);
    whole.writeUInt32LE(bytes, 4);
    const { samples, statedLength } = addon.decode(whole);
    assert.equal(statedLength, undefined);
    const both = addon.decode(Buffer.concat([whole, made('behind.flac')]));
    assert.ok(both.samples.length > 1.9 * samples.length);
    assert.deepEqual([both.statedLength, both.unheard], [undefined, []]);
  });
}

test('damaged packets at the end count towards the stated length', () => {
  const whole = made('middle.m4a', '-movflags', 'faststart');
  const middle = whole.length / 2;
  const bytes = Buffer.concat([whole.subarray(0, middle), whole.subarray(middle + whole.length / 8)]);
  const { samples, sampleRateHz, damagedPackets, statedLength } = addon.decode(bytes);
  assert.ok(damagedPackets > 5);
  assert.ok(samples.length / sampleRateHz < 2.5);
  assert.ok(Math.abs((statedLength?.statedS ?? 0) - 3) < 0.1, `${statedLength?.statedS} s`);
});

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

/** As an encoder writes it to a pipe: without the number of samples in STREAMINFO. */
function withoutLength(flac: Buffer): Buffer {
  const count = flac.indexOf('fLaC') + 8 + 13;
  flac.writeUInt8(flac.readUInt8(count) & 0xf0, count);
  return flac.fill(0, count + 1, count + 5);
}

for (const [what, rest] of [
  // For FFmpeg, a comment, which it passes over.
  ['a byte of 4 and an AIFF file', () => Buffer.concat([Buffer.from([4]), made('behind.aiff')])],
  ['noise', () => noise(100_000)],
] as const) {
  test(`${what} behind the last frame of FLAC is named`, () => {
    const flac = made('front.flac');
    for (const few of [Buffer.alloc(0), noise(16), Buffer.alloc(100)])
      assert.deepEqual(addon.decode(Buffer.concat([flac, few])).unheard, []);
    const behind = rest();
    const { samples, unheard } = addon.decode(Buffer.concat([flac, behind]));
    assert.equal(samples.length, 3 * 16_000);
    assert.deepEqual(
      unheard?.map((place) => [place.bytes, place.atS, place.what]),
      [[behind.length, 3, 'damaged data']],
    );
  });
}

test('a file behind another one lacks its end', () => {
  for (const name of ['joined.mp3', 'joined.flac']) {
    const whole = made(name);
    const cut = whole.subarray(0, whole.length * 0.6);
    assert.equal(addon.decode(Buffer.concat([whole, whole])).statedLength, undefined);
    const { samples, sampleRateHz, statedLength } = addon.decode(Buffer.concat([whole, cut]));
    assert.ok(Math.abs((statedLength?.foundS ?? 0) - samples.length / sampleRateHz) < 1e-3, name);
  }
  const flac = made('both.flac');
  const cut = flac.subarray(0, flac.length * 0.6);
  const { samples, sampleRateHz, statedLength } = addon.decode(Buffer.concat([cut, flac, cut]));
  assert.ok(Math.abs((statedLength?.foundS ?? 0) - samples.length / sampleRateHz) < 1e-3);
  // A frame that is cut off counts as found.
  assert.ok(Math.abs((statedLength?.statedS ?? 0) - 9) < 0.2, `${statedLength?.statedS} s`);
});

for (const [name, ...options] of [
  ['bare.mp3', ...BARE_MP3],
  ['cut.mp2'],
  ['cut.aac'],
  ['pipe.flac'],
  [PIPED_AVI],
] as const) {
  test(`${name} states no length, but ends inside a frame`, () => {
    const made_ = name === PIPED_AVI ? pipedAvi : made(name, ...options);
    const whole = name === 'pipe.flac' ? withoutLength(made_) : made_;
    assert.equal(addon.decode(whole).statedLength, undefined);
    const id3v1 = Buffer.concat([Buffer.from('TAG'), Buffer.alloc(125)]);
    // AVI files have no such tags.
    for (const rest of name === PIPED_AVI ? [Buffer.alloc(0)] : [Buffer.alloc(0), id3v1]) {
      assert.equal(addon.decode(Buffer.concat([whole, rest])).statedLength, undefined);
      const cut = whole.subarray(0, whole.length * 0.6);
      const { samples, sampleRateHz, statedLength } = addon.decode(Buffer.concat([cut, rest]));
      assert.deepEqual(statedLength, { foundS: samples.length / sampleRateHz });
    }
  });
}

test('a wrong bit in the last frame of a FLAC file without a length is damage, not a cut', () => {
  const whole = withoutLength(made('last-bit.flac'));
  whole.writeUInt8(whole.readUInt8(whole.length - 20) ^ 1, whole.length - 20);
  const { damagedPackets, statedLength } = addon.decode(whole);
  assert.equal(damagedPackets, 1);
  assert.equal(statedLength, undefined);
});

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

/** The beginning of the first frame behind `from`, in a stream of a constant rate. */
function frameBehind(bytes: Buffer, from: number): number {
  const [first = 0, second = 0] = bytes;
  let at = Math.floor(from);
  while (
    at < bytes.length &&
    (bytes[at] !== first || bytes[at + 1] !== second || (bytes[at + 2] ?? 0) >> 4 !== (bytes[2] ?? 0) >> 4)
  )
    at++;
  return at;
}

for (const [name, ...options] of [['hole.mp3', ...BARE_MP3, '-b:a', '64k'], ['hole.aac']] as const) {
  test(`zeros between the frames of ${name} are named, and padding is not`, () => {
    const bytes = made(name, ...options);
    const whole = addon.decode(bytes);
    const wholeS = whole.samples.length / whole.sampleRateHz;
    const at = frameBehind(bytes, bytes.length / 2);
    const [front, back] = [bytes.subarray(0, at), bytes.subarray(at)];
    const zeros = Buffer.alloc(20_000);
    const { unheard } = addon.decode(Buffer.concat([front, zeros, back]));
    assert.deepEqual(
      unheard?.map((place) => [place.bytes, place.what]),
      [[zeros.length, 'damaged data']],
    );
    assert.ok(Math.abs((unheard?.[0]?.atS ?? 0) - wholeS / 2) < 0.2, `${unheard?.[0]?.atS} s`);

    const id3v1 = Buffer.concat([Buffer.from('TAG'), Buffer.alloc(125, ' ')]);
    const id3v2 = Buffer.concat([Buffer.from('ID3\x03\0\0\0\0\0\x0a', 'latin1'), Buffer.alloc(10)]);
    const paddings: readonly Buffer[][] = [
      [zeros, bytes],
      [bytes, zeros],
      [bytes, zeros, id3v2, bytes],
      [bytes, id3v2, zeros, bytes],
      [bytes, id3v1, zeros, bytes],
      [bytes, zeros, id3v1, bytes],
      [bytes, Buffer.alloc(10), bytes],
      ...(name === 'hole.mp3' ? [[bytes, zeros, made('xing.mp3', '-id3v2_version', '0')]] : []),
    ];
    for (const [i, files] of paddings.entries())
      assert.deepEqual(addon.decode(Buffer.concat(files)).unheard, [], `${i}`);
  });
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

for (const [name, ...options] of [
  ['lace.webm', '-c:a', 'libopus'],
  ['lace.mkv', '-c:a', 'pcm_s16le'],
] as const) {
  test(`${name} names what follows a block that cannot be read`, () => {
    const bytes = made(name, ...options);
    // The flags of a block of track 1: lacing without its sizes.
    let at = Math.floor(bytes.length / 2);
    const isBlock = () =>
      bytes[at] === 0x81 && bytes[at + 3] === 0x80 && bytes.lastIndexOf(0xa3, at) >= at - 5;
    while (at < bytes.length - 4 && !isBlock()) at++;
    bytes.writeUInt8(0x86, at + 3);
    const { unheard } = addon.decode(bytes);
    assert.equal(unheard?.length, 1);
    const [place] = unheard;
    assert.equal(place?.what, 'damaged data');
    assert.ok(Math.abs((place?.bytes ?? 0) - (bytes.length - at)) < 2000, `${place?.bytes}`);
    assert.ok(Math.abs((place?.atS ?? 0) - 1.5) < 0.3, `${place?.atS} s`);
  });
}

/** As in RFC 3533, appendix A. */
function withChecksum(page: Buffer): Buffer {
  page.writeUInt32LE(0, 22);
  let crc = 0;
  for (const byte of page) {
    crc ^= byte << 24;
    for (let i = 0; i < 8; i++) crc = (crc << 1) ^ (crc < 0 ? 0x04c11db7 : 0);
  }
  page.writeInt32LE(crc, 22);
  return page;
}

test('what follows an Ogg page of empty packets is heard', () => {
  const ogg = made('empty-packets.opus', '-c:a', 'libopus', '-page_duration', '200000');
  const page = ogg.indexOf('OggS', ogg.length / 2);
  const empty = Buffer.concat([ogg.subarray(page, page + 26), Buffer.from([255]), Buffer.alloc(255)]);
  withChecksum(empty);
  const between = addon.decode(Buffer.concat([ogg.subarray(0, page), empty, ogg.subarray(page)]));
  assert.ok(Math.abs(between.samples.length / 48_000 - 3) < 0.1, `${between.samples.length}`);
  assert.equal(between.damagedPackets, 1);
  const behind = addon.decode(Buffer.concat([ogg, empty, empty, made('behind.flac')]));
  assert.ok(Math.abs(behind.samples.length - 3 * (48_000 + 16_000)) < 5000, `${behind.samples.length}`);
  assert.equal(behind.damagedPackets, 1);
});

test('what follows a damaged place is heard', () => {
  const aac = made('goes-on.aac');
  const wholeS = addon.decode(aac).samples.length / 16_000;
  const at = frameBehind(aac, aac.length / 2);
  const header = Buffer.from(aac.subarray(0, 7));
  // A frame of three bytes.
  header.writeUInt16BE((header.readUInt16BE(3) & 0xfc00) | 0, 3);
  header.writeUInt8((header.readUInt8(5) & 0x1f) | 0x60, 5);
  const ogg = made('goes-on.ogg', '-c:a', 'flac', '-ar', '48000', '-page_duration', '200000');
  const half = Math.floor(ogg.length / 2);
  const holed = Buffer.concat([ogg.subarray(0, half), Buffer.alloc(150_000), ogg.subarray(half)]);
  for (const [bytes, lengthS] of [
    [Buffer.concat([aac.subarray(0, at), header, aac.subarray(at)]), wholeS],
    [holed, 3],
  ] as const) {
    const { samples, sampleRateHz, damagedPackets, unheard } = addon.decode(bytes);
    assert.ok(samples.length / sampleRateHz > lengthS - 0.2, `${samples.length / sampleRateHz} s`);
    assert.ok(damagedPackets > 0 || (unheard?.length ?? 0) > 0);
  }
});
