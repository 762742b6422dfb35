// SPDX-License-Identifier: Apache-2.0
//
// Chunks of a call's leg: their order, lost and late ones, and gaps of any length.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LegAudio } from '../../../src/api/streams/leg-audio.js';

const CHUNK_BYTES = 160;

class Pushed {
  readonly pieces: Uint8Array[] = [];
  readonly audio = new LegAudio('mulaw', (bytes) => void this.pieces.push(bytes));

  /** 20 ms at this time, each byte of which is `mark`. */
  chunk(atMs: number, mark: number, bytes = CHUNK_BYTES): void {
    this.audio.add(atMs, new Uint8Array(bytes).fill(mark));
  }

  /** Runs of equal bytes, each with its length in ms; silence is 255. */
  get runs(): string {
    const bytes = Buffer.concat(this.pieces);
    const runs: string[] = [];
    for (let begin = 0, end = 0; begin < bytes.length; begin = end) {
      while (bytes[end] === bytes[begin]) end++;
      runs.push(`${bytes[begin]}:${(end - begin) / 8}`);
    }
    return runs.join(' ');
  }
}

test('chunks in their order are pushed at once', () => {
  const pushed = new Pushed();
  for (let i = 0; i < 3; i++) {
    pushed.chunk(20 * i, i);
    assert.equal(pushed.pieces.length, i + 1);
  }
  assert.equal(pushed.runs, '0:20 1:20 2:20');
});

test('chunks that overtook others take their places', () => {
  const pushed = new Pushed();
  for (const [atMs, mark] of [
    [0, 0],
    [40, 2],
    [60, 3],
    [20, 1],
    [80, 4],
  ] as const)
    pushed.chunk(atMs, mark);
  assert.equal(pushed.runs, '0:20 1:20 2:20 3:20 4:20');
});

test('lost chunks are silence, once 200 ms have come after them or the leg ends', () => {
  const pushed = new Pushed();
  pushed.chunk(0, 0);
  for (let atMs = 40; atMs <= 220; atMs += 20) pushed.chunk(atMs, 1);
  assert.equal(pushed.runs, '0:20');
  pushed.chunk(240, 1);
  assert.equal(pushed.runs, '0:20 255:20 1:220');
  pushed.chunk(300, 2);
  pushed.audio.flush();
  assert.equal(pushed.runs, '0:20 255:20 1:220 255:40 2:20');
});

test('late and repeated chunks are left out', () => {
  const pushed = new Pushed();
  pushed.chunk(0, 0);
  pushed.chunk(0, 9);
  pushed.chunk(500, 1);
  pushed.chunk(300, 9);
  pushed.chunk(520, 2);
  assert.equal(pushed.runs, '0:20 255:480 1:20 2:20');
});

test('times that jitter neither add nor lose audio', () => {
  const pushed = new Pushed();
  for (let i = 0; i < 50; i++) pushed.chunk(20 * i + Number([0, 15, 3, 19, 8][i % 5]), i);
  pushed.audio.flush();
  assert.equal(Buffer.concat(pushed.pieces).length, 50 * CHUNK_BYTES);
});

test('a gap between long chunks is silence, too', () => {
  const pushed = new Pushed();
  pushed.chunk(0, 0, 8000);
  pushed.chunk(1100, 1, 8000);
  pushed.chunk(2110, 2, 8000);
  pushed.audio.flush();
  assert.equal(pushed.runs, '0:1000 255:100 1:1000 2:1000');
});

test('times of the call begin with the first chunk', () => {
  const pushed = new Pushed();
  pushed.chunk(12_340, 1);
  assert.equal(pushed.runs, '1:20');
  assert.deepEqual([pushed.audio.startOf(0), pushed.audio.endOf(5)], [12.34, 17.34]);
});

test('a gap of hours takes the memory of 5 s, and times after it are right', () => {
  const pushed = new Pushed();
  const hourMs = 3_600_000;
  pushed.chunk(0, 0);
  for (let hour = 1; hour <= 24; hour++) pushed.chunk(hour * hourMs, hour);
  const bytes = pushed.pieces.reduce((sum, piece) => sum + piece.length, 0);
  assert.equal(bytes, 25 * CHUNK_BYTES + 24 * 40_000);
  assert.equal(new Set(pushed.pieces.map(({ buffer }) => buffer)).size, 26, 'one silence for all gaps');
  assert.ok(pushed.runs.startsWith('0:20 255:5000 1:20 255:5000 2:20'));
  const { audio } = pushed;
  // 20 ms of audio, then 5 s of silence for the rest of the hour.
  assert.deepEqual([audio.startOf(0), audio.endOf(5.02), audio.startOf(5.02)], [0, 5.02, 3600]);
  assert.deepEqual([audio.startOf(10.04), audio.endOf(10.06)], [7200, 7200.02]);
});

test('hostile times and lengths keep no more than 200 ms', () => {
  const pushed = new Pushed();
  pushed.chunk(0, 0);
  pushed.chunk(100_000, 1, 12_000);
  assert.equal(pushed.pieces.length, 3, 'a gap and what follows');
  for (let i = 0; i < 10_000; i++) pushed.chunk(110_000 + (i % 200), 2, 1);
  const kept = 10_000 - pushed.pieces.length;
  assert.ok(pushed.pieces.length > 3 && kept > 0);
  pushed.audio.flush();
  assert.ok(Buffer.concat(pushed.pieces).length < 12_000 + CHUNK_BYTES + 2 * 40_000 + 2000);
});
