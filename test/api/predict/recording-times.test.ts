// SPDX-License-Identifier: Apache-2.0
//
// Times match the recording as players show it: gaps between time stamps count as silence. FFmpeg makes the gaps,
// and ffprobe measures the end of the audio.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
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
/** Six seconds are missing after two. */
const GAP = 'atrim=end=4,aresample=48000,asetnsamples=480,asetpts=PTS+gte(T\\,2)*6/TB';
const folder = mkdtempSync(path.join(os.tmpdir(), 'veravox-times-'));
const convert = ffmpegInto(folder);

after(() => rmSync(folder, { recursive: true, force: true }));

/** The end of the last audio frame by its time stamp, relative to the recording's start. */
function endOf(file: string): number {
  const probe = (...entries: string[]): string =>
    execFileSync('ffprobe', ['-v', 'error', ...entries, '-of', 'csv=p=0', file], { encoding: 'utf8' });
  const startS = Number.parseFloat(probe('-show_entries', 'format=start_time'));
  const packets = probe('-select_streams', 'a:0', '-show_entries', 'packet=pts_time,duration_time');
  const ends = packets
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.split(',').map(Number.parseFloat))
    .map(([stampS = 0, durationS = 0]) => stampS + (Number.isNaN(durationS) ? 0 : durationS));
  return Math.max(...ends) - startS;
}

for (const [name, options] of [
  ['gap.webm', ['-c:a', 'libopus']],
  ['vorbis.webm', ['-c:a', 'libvorbis']],
  ['gap.ogg', ['-c:a', 'libopus']],
  ['flac.ogg', ['-c:a', 'flac']],
  ['gap.mp4', ['-c:a', 'aac']],
  ['fragments.mp4', ['-c:a', 'aac', '-movflags', 'frag_keyframe+empty_moov', '-frag_duration', '500000']],
  ['alac.m4a', ['-c:a', 'alac']],
  ['aac.mkv', ['-c:a', 'aac']],
  ['mp3.mkv', ['-c:a', 'libmp3lame']],
  ['pcm.mkv', ['-c:a', 'pcm_s16le']],
] as const) {
  test(`a gap in ${name} counts as silence`, () => {
    const file = convert(SPEECH, ['-af', GAP, ...options, name]);
    const { samples, sampleRateHz, statedLength } = addon.decode(readFileSync(file));
    assert.ok(Math.abs(samples.length / sampleRateHz - endOf(file)) < 0.05);
    assert.equal(statedLength, undefined);
    const at = (startS: number, endS: number) => samples.subarray(startS * sampleRateHz, endS * sampleRateHz);
    assert.ok(at(2.2, 7.8).every((sample) => sample === 0));
    assert.ok(at(1, 1.9).some((sample) => Math.abs(sample) > 0.01));
    assert.ok(at(8.1, 9.9).some((sample) => Math.abs(sample) > 0.01));
  });
}

const VIDEO = ['-f', 'lavfi', '-t', '8', '-i', 'testsrc2=size=64x48:rate=5', '-map', '1:v', '-map', '0:a'];

for (const name of ['late.mkv', 'late.mp4', 'late.mov']) {
  test(`audio of ${name} that begins later than the video has silence before it`, () => {
    const delayed = convert(SPEECH, ['-af', 'atrim=end=3,asetpts=PTS+3/TB', '-c:a', 'aac', `only-${name}`]);
    const file = convert(delayed, ['-copyts', ...VIDEO, '-c:v', 'mpeg4', '-c:a', 'copy', name]);
    const { samples, sampleRateHz } = addon.decode(readFileSync(file));
    assert.ok(Math.abs(samples.length / sampleRateHz - endOf(file)) < 0.05);
    assert.ok(samples.subarray(0, 2.8 * sampleRateHz).every((sample) => sample === 0));
    assert.ok(samples.subarray(3.1 * sampleRateHz).some((sample) => Math.abs(sample) > 0.01));
  });
}

for (const codec of ['aac', 'libvorbis', 'libmp3lame', 'flac']) {
  test(`${codec} in AVI, whose stamps are guesses, gets no silence`, () => {
    const file = convert(SPEECH, ['-t', '4', '-c:a', codec, `${codec}.avi`]);
    const { samples, sampleRateHz, statedLength } = addon.decode(readFileSync(file));
    // The padding of encoders is heard.
    assert.ok(Math.abs(samples.length / sampleRateHz - 4) < 0.12);
    assert.equal(statedLength, undefined);
  });
}

test('stamps that go back or jitter make no silence', () => {
  for (const [name, stamps] of [
    ['back.mkv', 'asetpts=PTS-gte(T\\,2)*1.5/TB'],
    ['jitter.mkv', 'asetnsamples=320:p=0,asetpts=PTS+0.03*sin(N)/TB'],
  ] as const) {
    const whole = addon.decode(readFileSync(SPEECH)).samples;
    const file = convert(SPEECH, ['-af', stamps, '-c:a', 'pcm_s16le', name]);
    assert.deepEqual(addon.decode(readFileSync(file)).samples, whole, name);
  }
});

/** Ten seconds are missing after five. */
const STOP = 'asetnsamples=320:p=0,asetpts=PTS+gte(T\\,5)*10/TB';

const form = (file: string, fields: Readonly<Record<string, string>> = {}) =>
  formBody([
    fileEntry(readFileSync(file)),
    ...Object.entries(fields).map(([name, content]) => ({ name, content })),
  ]);

test('segments, skipped stretches, regions and limits count gaps', async (t) => {
  const { port } = await startPipelineServer(t);
  const file = convert(SPEECH, ['-af', STOP, '-c:a', 'pcm_s16le', 'long-gap.mkv']);
  const { json } = await predict(port, form(file));
  assert.ok(Math.abs(json.audio_duration - 18.645) < 0.05);
  assert.deepEqual(
    json.segments.map(({ start, end }: { start: number; end: number }) => [start, Math.round(end)]),
    [
      [0, 5],
      [json.audio_duration - 5, 19],
    ].map(([start = 0, end = 0]) => [Math.round(start * 1e6) / 1e6, end]),
  );
  assert.match(json.warnings.join(), /^Not analysed from 5 s to 15 s: /);
  const region = await predict(port, form(file, { start: '15', end: '18' }));
  const same = await predict(port, form(SPEECH, { start: '5', end: '8' }));
  assert.equal(region.json.segments[0].start, 15);
  assert.ok(Math.abs(region.json.global.score - same.json.global.score) < 0.02);

  const years = convert(SPEECH, ['-af', 'asetnsamples=320,asetpts=PTS+gte(T\\,5)*1e6/TB', 'years.mkv']);
  const before = process.cpuUsage();
  const refused = await predict(port, form(years));
  assert.equal(refused.status, 413, refused.text);
  assert.match(refused.json.message, /at least 1000005\.\d+ s/);
  assert.ok(process.cpuUsage(before).user < 10_000_000);
});
