// SPDX-License-Identifier: Apache-2.0
//
// All audio of a file is heard, or a warning says what is missing: files behind others, further audio tracks, and
// truncated recordings. FFmpeg makes the files.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { loadAddon } from '../../../src/base/addon/addon.js';
import { packageDir } from '../../../src/base/config/package-dir.js';
import { fileEntry, formBody } from '../../support/form-body.js';
import { predict } from '../../support/http-client.js';
import { startPipelineServer } from '../../support/pipeline-server.js';
import { ffmpegInto } from '../../support/recordings.js';

const addon = loadAddon();
const SPEECH = path.join(packageDir, 'test/fixtures/human-lj-a.flac');
const folder = mkdtempSync(path.join(os.tmpdir(), 'veravox-joined-'));
const convert = ffmpegInto(folder);

after(() => rmSync(folder, { recursive: true, force: true }));

const made = (name: string, ...options: readonly string[]): Buffer =>
  readFileSync(convert(SPEECH, ['-t', '3', ...options, name]));

const OPTIONS: Readonly<Record<string, readonly string[]>> = {
  'live.webm': ['-live', '1', '-c:a', 'libopus'],
  'b.webm': ['-c:a', 'libvorbis'],
  'rf64.wav': ['-rf64', 'always'],
  'bare.mp3': ['-id3v2_version', '0', '-write_xing', '0'],
  'mp3.mp4': ['-c:a', 'libmp3lame'],
  'rate.aac': ['-ar', '44100', '-ac', '2'],
};

for (const [first, second] of [
  ['a.m4a', 'b.m4a'],
  ['a.m4a', 'b.wav'],
  ['a.webm', 'b.webm'],
  ['a.webm', 'b.flac'],
  ['live.webm', 'b.webm'],
  ['a.ogg', 'b.webm'],
  ['a.ogg', 'b.mp3'],
  ['a.flac', 'b.flac'],
  ['a.mp3', 'b.wav'],
  ['a.mp3', 'b.m4a'],
  ['a.aac', 'b.flac'],
  ['a.avi', 'b.wav'],
  ['a.m4a', 'b.webm'],
  ['a.m4a', 'b.aac'],
  ['a.mov', 'rf64.wav'],
  ['a.flac', 'bare.mp3'],
  ['a.flac', 'b.aac'],
  ['a.flac', 'rf64.wav'],
  ['a.flac', 'mp3.mp4'],
  ['a.aac', 'b.ogg'],
  ['a.aac', 'b.wav'],
  ['a.aac', 'b.webm'],
  ['a.aac', 'bare.mp3'],
  ['a.aac', 'rate.aac'],
] as const) {
  // The padding of an MP3 encoder is heard if audio follows.
  test(`${second} behind ${first} is heard`, () => {
    const [one, two] = [made(first, ...(OPTIONS[first] ?? [])), made(second, ...(OPTIONS[second] ?? []))];
    const lengths = [one, two].map((bytes) => addon.decode(bytes).samples.length);
    const both = addon.decode(Buffer.concat([one, two]));
    assert.ok(Math.abs(both.samples.length - (lengths[0] ?? 0) - (lengths[1] ?? 0)) < 600);
    assert.equal(both.damagedPackets, 0);
    assert.equal(both.statedLength, undefined);
  });
}

test('an AVI file behind a WAV file is named', () => {
  const behind = made('behind.avi');
  const { unheard } = addon.decode(Buffer.concat([made('front.wav'), behind]));
  assert.deepEqual(
    unheard?.map(({ bytes, atS }) => [bytes, atS]),
    [[behind.length, 3]],
  );
});

const strangers: Readonly<Record<string, () => Buffer>> = {
  AIFF: () => made('behind.aiff'),
  CAF: () => made('behind.caf'),
  text: () => Buffer.from('A text without a meaning.\n'.repeat(100)),
};
const fronts = ['front.m4a', 'front.mp4', 'front.mov', 'front.mkv', 'front.webm', 'front.avi'];
for (const [front, stranger] of fronts.flatMap((front) =>
  Object.keys(strangers).map((name) => [front, name] as const),
)) {
  test(`${stranger} behind ${front} is named`, () => {
    const behind = (strangers[stranger] ?? assert.fail())();
    const whole = made(front, ...(OPTIONS[front] ?? []));
    const { samples, unheard } = addon.decode(Buffer.concat([whole, behind]));
    assert.equal(samples.length, addon.decode(whole).samples.length);
    assert.deepEqual(
      unheard?.map(({ bytes, what }) => [bytes, what]),
      [[behind.length, 'another file that cannot be read']],
    );
    for (const padding of [Buffer.alloc(1000), Buffer.from('\r\n')])
      assert.deepEqual(addon.decode(Buffer.concat([whole, padding])).unheard, []);
  });
}

test('what is behind a file and cannot be read is named', () => {
  const broken = made('broken.m4a').subarray(0, 300);
  const { samples, sampleRateHz, unheard } = addon.decode(Buffer.concat([made('good.m4a'), broken]));
  assert.ok(Math.abs(samples.length / sampleRateHz - 3) < 0.05);
  assert.equal(unheard?.length, 1);
  assert.equal(unheard?.[0]?.bytes, 300);
  assert.ok(Math.abs((unheard?.[0]?.atS ?? 0) - 3) < 0.05);
});

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
    // FFmpeg leaves the gap open.
    const shown = ['-show_entries', 'packet=pts_time,duration_time', '-of', 'csv=p=0'];
    const packets = execFileSync('ffprobe', ['-v', 'quiet', ...shown, path.join(folder, name)], {
      encoding: 'utf8',
    })
      .trim()
      .split('\n')
      .map((line) => line.split(',').map(Number));
    const starts = packets.map(([start]) => start ?? 0);
    const gaps = starts.map((start, i) => [(starts[i + 1] ?? start) - start, start] as const);
    const [longest] = gaps.sort(([a], [b]) => b - a);
    assert.ok(Math.abs(place.atS - (longest?.[1] ?? 0)) < 0.25, `${place.atS} s, not ${longest?.[1]} s`);
    assert.ok(samples.length / sampleRateHz > 2.9);
  });
}

test('a voice in the second track is named, also if the first one is silent', async (t) => {
  const { port } = await startPipelineServer(t);
  const form = (file: Uint8Array) => formBody([fileEntry(file)]);
  const tracks = ['-f', 'lavfi', '-i', 'anullsrc=r=16000:cl=mono'];
  const second = await predict(port, form(made('two.mkv', ...tracks, '-map', '0', '-map', '1', '-t', '3')));
  assert.match(second.json.warnings.join(), /^Not analysed: \d+ bytes after 0 s, audio track 2 /);
  const silent = await predict(
    port,
    form(made('silent.mkv', ...tracks, '-map', '1', '-map', '0', '-t', '3')),
  );
  assert.equal(silent.status, 422);
  assert.match(
    silent.json.message,
    /silence_threshold = 80 percent non-speech\. Not analysed: .* audio track 2 /,
  );
});
