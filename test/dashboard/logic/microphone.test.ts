// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import type { StreamWindow } from '../../../client/src/index.js';
import {
  announcementOf,
  isTooFarBehind,
  nothingYet,
  withConnection,
  withEvent,
} from '../../../dashboard/src/logic/live.js';
import { levelOf, PieceMaker } from '../../../dashboard/src/logic/pcm16.js';
import { wavOf } from '../../../dashboard/src/logic/wav-writer.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

test('samples of all channels are mixed into pieces of one length, and nothing is lost', () => {
  const maker = new PieceMaker(300);
  const pieces: Int16Array[] = [];
  const ramp = (from: number) => Float32Array.from({ length: 128 }, (_, i) => (from + i) / 1000);
  for (let block = 0; block < 5; block++) {
    const left = ramp(128 * block);
    maker.push([left, left.map((x) => -x / 2)], (piece) => pieces.push(piece));
  }
  pieces.push(maker.rest());
  assert.deepEqual(
    pieces.map(({ length }) => length),
    [300, 300, 40],
  );
  const all = pieces.flatMap((piece) => [...piece]);
  const expected = Array.from({ length: 640 }, (_, i) => Math.round((Math.fround(i / 1000) / 4) * 32767));
  for (const [i, sample] of all.entries()) assert.ok(Math.abs(sample - (expected[i] ?? 0)) <= 1, `${i}`);
  assert.equal(maker.rest().length, 0);
});

test('samples beyond the scale are cut off at its ends', () => {
  const pieces: Int16Array[] = [];
  new PieceMaker(3).push([Float32Array.of(7, -7, Number.NaN)], (piece) => pieces.push(piece));
  assert.deepEqual(pieces, [Int16Array.of(32767, -32767, 0)]);
});

test('a level is in decibels below full scale', () => {
  const sine = Int16Array.from({ length: 4800 }, (_, i) => 16384 * Math.sin((2 * Math.PI * 100 * i) / 4800));
  assert.ok(Math.abs(levelOf(sine).dbfs + 9.03) < 0.01, `${levelOf(sine).dbfs}`);
  assert.equal(levelOf(sine).isClipped, false);
  assert.equal(levelOf(Int16Array.of(0, -32768)).isClipped, true);
  assert.equal(levelOf(new Int16Array(5)).dbfs, -Infinity);
});

test('a recording becomes a WAV file that FFmpeg reads back', async (t) => {
  const file = path.join(temporaryFolder(t), 'r.wav');
  const pieces = [Int16Array.of(1, -2, 3), Int16Array.of(-32768, 32767)];
  fs.writeFileSync(file, Buffer.from(await new Blob(wavOf(pieces, 44_100)).arrayBuffer()));
  const probe = ['-v', 'error', '-show_entries', 'stream=codec_name,sample_rate,channels', '-of', 'csv=p=0'];
  assert.equal(execFileSync('ffprobe', [...probe, file], { encoding: 'utf8' }).trim(), 'pcm_s16le,44100,1');
  const raw = execFileSync('ffmpeg', ['-v', 'error', '-i', file, '-f', 's16le', '-']);
  assert.deepEqual(
    Array.from({ length: raw.length / 2 }, (_, i) => raw.readInt16LE(2 * i)),
    [1, -2, 3, -32768, 32767],
  );
});

test('live audio: the verdict so far is that of the last window with speech', () => {
  const global = { score: 0.9, confidence: 0.8, result: 'spoofed', windows: 1 } as const;
  const window: StreamWindow = {
    type: 'window',
    event: 0,
    start: 0,
    end: 5,
    scores: [0.9],
    confidence: 0.8,
    result: 'spoofed',
    global,
  };
  const skipped = { type: 'skipped', event: 1, start: 5, end: 10, non_speech_percent: 97.4 } as const;
  const facts = withEvent(withEvent(nothingYet, window), skipped);
  assert.equal(facts.soFar, global);
  assert.equal(announcementOf(window), '0:00 to 0:05: AI-generated. So far AI-generated, score 0.90.');
  assert.equal(announcementOf(skipped), '0:05 to 0:10: no speech.');
  const resumed = withConnection(withConnection(facts, false), true);
  assert.deepEqual([resumed.connection, resumed.losses, resumed.events.length], ['connected', 1, 2]);
});

test('live audio waits half a minute for a slow network', () => {
  assert.equal(isTooFarBehind(100, 71), false);
  assert.equal(isTooFarBehind(100, 69), true);
});
