// SPDX-License-Identifier: Apache-2.0
//
// All audio of a file is heard, or a warning says what is missing: files behind others, and further audio tracks. FFmpeg makes
// the files.
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
import { ffmpegMany, pipedByFfmpeg } from '../../support/recordings.js';

const addon = loadAddon();
const SPEECH = path.join(packageDir, 'test/fixtures/human-lj-a.flac');
const folder = mkdtempSync(path.join(os.tmpdir(), 'veravox-joined-'));

after(() => rmSync(folder, { recursive: true, force: true }));

const SECONDS = ['-t', '3'];
const FORMATS = [
  'm4a',
  'mp4',
  'mov',
  'webm',
  'mkv',
  'ogg',
  'mp3',
  'aac',
  'avi',
  'flac',
  'wav',
  'aiff',
  'caf',
];
const SPECIAL: Readonly<Record<string, readonly string[]>> = {
  'live.webm': ['-live', '1', '-c:a', 'libopus'],
  'vorbis.webm': ['-c:a', 'libvorbis'],
  'rf64.wav': ['-rf64', 'always'],
  'bare.mp3': ['-id3v2_version', '0', '-write_xing', '0'],
  'mp3.mp4': ['-c:a', 'libmp3lame'],
  'rate.aac': ['-ar', '44100', '-ac', '2'],
  'opus.mp4': ['-c:a', 'libopus'],
  'flac.mp4': ['-c:a', 'flac', '-strict', 'experimental'],
  'ac3.mp4': ['-c:a', 'ac3'],
  'pcm.mov': ['-c:a', 'pcm_s16le'],
  'ima.mov': ['-c:a', 'adpcm_ima_qt'],
  'fragments.mp4': ['-movflags', 'frag_keyframe+empty_moov'],
  'short-fragments.mp4': ['-movflags', 'frag_keyframe+empty_moov', '-frag_duration', '500000'],
  'long.m4a': ['-t', '300', '-af', 'apad', '-ar', '8000'],
  'link.ogg': ['-t', '0.5', '-c:a', 'libopus', '-page_duration', '100000'],
};
const plain = FORMATS.map((format) => [`plain.${format}`, []] as const);
ffmpegMany(
  folder,
  SPEECH,
  Object.fromEntries(
    [...plain, ...Object.entries(SPECIAL)].map(([name, options]) => [name, [...SECONDS, ...options]]),
  ),
);
const piped: Readonly<Record<string, Buffer>> = {
  'pipe.avi': pipedByFfmpeg(SPEECH, ...SECONDS, '-f', 'avi'),
  pcm_s16le: pipedByFfmpeg(SPEECH, ...SECONDS, '-c:a', 'pcm_s16le', '-f', 'wav'),
  pcm_f32le: pipedByFfmpeg(SPEECH, ...SECONDS, '-c:a', 'pcm_f32le', '-f', 'wav'),
};

/** The recording in a format, or a special one by its name. */
const made = (name: string): Buffer =>
  Buffer.from(piped[name] ?? readFileSync(path.join(folder, name.includes('.') ? name : `plain.${name}`)));

for (const [first, second] of [
  ['m4a', 'm4a'],
  ['m4a', 'wav'],
  ['webm', 'vorbis.webm'],
  ['webm', 'flac'],
  ['live.webm', 'webm'],
  ['ogg', 'webm'],
  ['ogg', 'mp3'],
  ['flac', 'flac'],
  ['mp3', 'wav'],
  ['mp3', 'm4a'],
  ['aac', 'flac'],
  ['avi', 'wav'],
  ['pipe.avi', 'wav'],
  ['pipe.avi', 'avi'],
  ['m4a', 'webm'],
  ['m4a', 'aac'],
  ['mov', 'rf64.wav'],
  ['flac', 'bare.mp3'],
  ['flac', 'aac'],
  ['flac', 'rf64.wav'],
  ['flac', 'mp3.mp4'],
  ['aac', 'ogg'],
  ['aac', 'wav'],
  ['aac', 'webm'],
  ['aac', 'bare.mp3'],
  ['aac', 'rate.aac'],
] as const) {
  // The padding of an MP3 encoder is heard if audio follows.
  test(`${second} behind ${first} is heard`, () => {
    const [one, two] = [made(first), made(second)];
    const lengths = [one, two].map((bytes) => addon.decode(bytes).samples.length);
    const both = addon.decode(Buffer.concat([one, two]));
    assert.ok(Math.abs(both.samples.length - (lengths[0] ?? 0) - (lengths[1] ?? 0)) < 600);
    assert.equal(both.damagedPackets, 0);
    assert.equal(both.statedLength, undefined);
  });
}

test('an AVI file behind a WAV file is named', () => {
  const behind = made('avi');
  const { unheard } = addon.decode(Buffer.concat([made('wav'), behind]));
  assert.deepEqual(
    unheard?.map(({ bytes, atS }) => [bytes, atS]),
    [[behind.length, 3]],
  );
});

for (const second of ['ogg', 'webm', 'mkv', 'm4a', 'flac', 'avi', 'mp3']) {
  for (const codec of ['pcm_s16le', 'pcm_f32le']) {
    test(`${second} behind WAV of unknown length with ${codec} is named, and heard like in players`, () => {
      const [front, behind] = [made(codec), made(second)];
      const alone = addon.decode(front).samples;
      const { samples, unheard } = addon.decode(Buffer.concat([front, behind]));
      assert.deepEqual(samples.subarray(0, alone.length), alone);
      const frameBytes = codec === 'pcm_s16le' ? 2 : 4;
      assert.equal(samples.length, alone.length + Math.floor(behind.length / frameBytes));
      const what = 'a file of another format, which was heard as samples of the WAV file';
      assert.deepEqual(unheard, [{ bytes: behind.length, atS: 3, what }]);
    });
  }
}

const strangers: Readonly<Record<string, () => Buffer>> = {
  AIFF: () => made('aiff'),
  CAF: () => made('caf'),
  text: () => Buffer.from('A text without a meaning.\n'.repeat(100)),
};
const fronts = ['m4a', 'mp4', 'mov', 'mkv', 'webm', 'avi', 'pipe.avi'];
for (const [front, stranger] of fronts.flatMap((front) =>
  Object.keys(strangers).map((name) => [front, name] as const),
)) {
  test(`${stranger} behind ${front} is named`, () => {
    const behind = (strangers[stranger] ?? assert.fail())();
    const whole = made(front);
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
  const broken = made('m4a').subarray(0, 300);
  const { samples, sampleRateHz, unheard } = addon.decode(Buffer.concat([made('m4a'), broken]));
  assert.ok(Math.abs(samples.length / sampleRateHz - 3) < 0.05);
  assert.equal(unheard?.length, 1);
  assert.equal(unheard?.[0]?.bytes, 300);
  assert.ok(Math.abs((unheard?.[0]?.atS ?? 0) - 3) < 0.05);
});

/** The recording and silence as two tracks, in this order of 0 and 1. */
function withSilence(...order: readonly string[]): Buffer {
  const silence = ['-f', 'lavfi', '-i', 'anullsrc=r=16000:cl=mono'];
  return pipedByFfmpeg(
    SPEECH,
    ...silence,
    ...order.flatMap((i) => ['-map', i]),
    ...SECONDS,
    '-f',
    'matroska',
  );
}

test('a voice in the second track is named, also if the first one is silent', async (t) => {
  const { port } = await startPipelineServer(t);
  const form = (file: Uint8Array) => formBody([fileEntry(file)]);
  const second = await predict(port, form(withSilence('0', '1')));
  assert.match(second.json.warnings.join(), /^Not analysed: \d+ bytes after 0 s, audio track 2 /);
  const silent = await predict(port, form(withSilence('1', '0')));
  assert.equal(silent.status, 422);
  assert.match(
    silent.json.message,
    /silence_threshold = 80 percent non-speech\. Not analysed: .* audio track 2 /,
  );
});

test('fragments whose time stamps start over are heard', () => {
  const bytes = made('short-fragments.mp4');
  const whole = addon.decode(bytes).samples.length;
  const places: number[] = [];
  for (let at = bytes.indexOf('tfdt'); at >= 0; at = bytes.indexOf('tfdt', at + 4)) places.push(at);
  const later = places.slice(places.length / 2);
  const [first = 0] = later.map((at) => bytes.readUInt32BE(at + 12));
  for (const at of later) bytes.writeUInt32BE(bytes.readUInt32BE(at + 12) - first, at + 12);
  assert.equal(addon.decode(bytes).samples.length, whole);
});

for (const name of ['m4a', 'opus.mp4', 'mp3.mp4', 'flac.mp4', 'ac3.mp4', 'pcm.mov', 'ima.mov']) {
  test(`audio that the edits of ${name} leave out is named`, () => {
    const bytes = made(name);
    assert.deepEqual(addon.decode(bytes).unheard, []);
    const audioBytes = bytes.readUInt32BE(bytes.indexOf('mdat') - 4) - 8;
    const edit = bytes.indexOf('elst') + 12;
    bytes.writeUInt32BE(1000, edit);
    const { samples, sampleRateHz, unheard } = addon.decode(bytes);
    const heardS = samples.length / sampleRateHz;
    assert.ok(heardS < 1.2, `${heardS} s`);
    assert.equal(unheard?.length, 1);
    const [place] = unheard;
    assert.equal(place?.what, 'which the edits of the file leave out');
    assert.ok(Math.abs((place?.bytes ?? 0) - (audioBytes * (3 - heardS)) / 3) < audioBytes / 10);
  });
}

test('a file with more packets than its edit has samples names what the edit leaves out', () => {
  const bytes = made('long.m4a');
  bytes.writeUInt32BE(200, bytes.indexOf('elst') + 12);
  const { samples, unheard } = addon.decode(bytes);
  assert.ok(samples.length < 2400);
  assert.deepEqual(
    unheard?.map(({ what }) => what),
    ['which the edits of the file leave out'],
  );
});

test('zeros and what follows them behind an MP4 file are heard or named', () => {
  const bytes = made('m4a');
  const lengthS = addon.decode(bytes).samples.length;
  const zeros = Buffer.alloc(1000);
  assert.equal(addon.decode(Buffer.concat([bytes, zeros, bytes])).samples.length, 2 * lengthS);
  const stranger = made('aiff');
  const { unheard } = addon.decode(Buffer.concat([bytes, zeros, stranger]));
  assert.deepEqual(
    unheard?.map((part) => part.bytes),
    [zeros.length + stranger.length],
  );
  const fragments = made('fragments.mp4');
  assert.equal(addon.decode(Buffer.concat([fragments, Buffer.alloc(4)])).statedLength, undefined);
});

test('another track is also named if only a region is analysed', async (t) => {
  const { port } = await startPipelineServer(t);
  const file = withSilence('0', '1');
  const fields = [fileEntry(file), { name: 'start', content: '1' }, { name: 'end', content: '3' }];
  const { json } = await predict(port, formBody(fields));
  assert.match(json.warnings.join(), /^Not analysed: \d+ bytes after 0 s, audio track 2 /);
  const joined = Buffer.concat([file, made('mkv')]);
  const warningsFrom = async (start: string) => {
    const region = [fileEntry(joined), { name: 'start', content: start }];
    return (await predict(port, formBody(region))).json.warnings.join();
  };
  assert.match(await warningsFrom('1'), /audio track 2 /);
  assert.doesNotMatch(await warningsFrom('4'), /audio track 2 /);
});

test('from the 20th damaged place of joined files on, one entry counts all', () => {
  const link = made('link.ogg');
  const at = Math.floor(link.length / 2);
  link.writeUInt8(link.readUInt8(at) ^ 1, at);
  const placesOf = (links: number) =>
    addon.decode(Buffer.concat(Array.from({ length: links }, () => link))).unheard ?? [];
  const bytesOf = (places: readonly { bytes: number }[]) => places.reduce((sum, { bytes }) => sum + bytes, 0);
  const [few, many] = [placesOf(5), placesOf(30)];
  assert.equal(few.length, 5);
  assert.deepEqual(
    many.map(({ what }) => what),
    [...Array<string>(19).fill('damaged data'), 'damaged data in several places'],
  );
  assert.equal(bytesOf(many), bytesOf(few) * 6);
});
