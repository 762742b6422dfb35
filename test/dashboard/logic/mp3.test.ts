// SPDX-License-Identifier: Apache-2.0
//
// MP3 files are cut between frames, wherever a slice begins.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { endOfTag, mp3RunIn } from '../../../dashboard/src/logic/mp3-frames.js';
import { packageDir } from '../../../src/base/config/package-dir.js';
import { ffmpegInto } from '../../support/recordings.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

const speech = path.join(packageDir, 'test/fixtures/human-lj-a.flac');
/** MPEG 1, 2 and 2.5; constant and variable rates. */
const kinds = [
  ['-ar', '44100', '-b:a', '64k'],
  ['-ar', '22050', '-q:a', '4'],
  ['-ar', '8000', '-b:a', '16k'],
] as const;

/** All runs, in slices of an odd size. @returns seconds of audio */
function secondsIn(bytes: Uint8Array, sliceBytes: number): number {
  let seconds = 0;
  for (let at = endOfTag(bytes); at < bytes.length; ) {
    const slice = bytes.subarray(at, at + sliceBytes);
    const run = mp3RunIn(slice);
    if (run === undefined) return seconds;
    seconds += run.samples / run.rateHz;
    at += run.end;
  }
  return seconds;
}

test('slices of an MP3 file have all of its audio, whatever its kind', (t) => {
  const encode = ffmpegInto(temporaryFolder(t));
  const wav = fs.statSync(encode(speech, ['-ar', '16000', '-ac', '1', 'speech.wav'])).size;
  const durationS = (wav - 78) / 2 / 16_000;
  for (const [i, kind] of kinds.entries()) {
    const bytes = new Uint8Array(fs.readFileSync(encode(speech, [...kind, `speech-${i}.mp3`])));
    // Frames of silence are added at both ends, plus one with the table of contents.
    const seconds = secondsIn(bytes, 7001);
    assert.ok(Math.abs(seconds - durationS) < 0.4, `${kind.join(' ')}: ${seconds} s of ${durationS} s`);
  }
});

test('what is no MP3 file has no run of frames', () => {
  assert.equal(mp3RunIn(new Uint8Array(10_000).fill(0xff)), undefined);
  assert.equal(mp3RunIn(new Uint8Array(0)), undefined);
  assert.equal(mp3RunIn(new Uint8Array(fs.readFileSync(speech)).subarray(0, 4096))?.start, undefined);
  assert.equal(endOfTag(new Uint8Array([0x49, 0x44, 0x33, 4, 0, 0, 0, 0, 2, 1])), 10 + 257);
});
