// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clock, ticksIn } from '../../../dashboard/src/logic/clock.js';
import { gainOf, levelFor, PeaksBuilder, peakIn } from '../../../dashboard/src/logic/peaks.js';
import { columnsOf, visibleWindows } from '../../../dashboard/src/logic/score-columns.js';
import { panned, showing, whole, windowAt, zoomed } from '../../../dashboard/src/logic/time-span.js';
import type { ScoredWindow } from '../../../dashboard/src/logic/windows.js';

const windowsOfLength = (count: number): ScoredWindow[] =>
  Array.from({ length: count }, (_, i) => ({
    startS: i * 5,
    endS: i * 5 + 5,
    score: (i % 100) / 100,
    confidence: 0.5,
    result: i % 100 >= 50 ? 'spoofed' : 'bonafide',
  }));

test('times are told as clocks tell them', () => {
  assert.deepEqual(
    [0, 5, 59.96, 65.25, 3600, 21_599.96, -1].map((time) => clock(time)),
    ['0:00', '0:05', '1:00', '1:05.3', '1:00:00', '6:00:00', '0:00'],
  );
  assert.equal(clock(5.1234, 3), '0:05.123');
  assert.equal(clock(5.1, 3), '0:05.1');
});

test('an axis has few round times, however long the recording is', () => {
  for (const lengthS of [0.5, 2, 7, 61, 600, 3599, 21_600, 86_400, 1e6]) {
    const ticks = ticksIn(3, 3 + lengthS, 9);
    assert.ok(ticks.length >= 1 && ticks.length <= 10, `${lengthS} s: ${ticks}`);
    assert.ok(ticks.every((tick) => tick >= 3 && tick <= 3 + lengthS));
  }
  assert.deepEqual(ticksIn(0, 30, 6), [0, 5, 10, 15, 20, 25, 30]);
});

test('zooming keeps the time under the pointer, and stays within the recording', () => {
  const span = zoomed(whole(100), 2, 30, 100);
  assert.deepEqual(span, { startS: 15, endS: 65 });
  assert.deepEqual(zoomed(span, 0.5, 30, 100), whole(100));
  assert.deepEqual(zoomed(whole(100), 1e9, 99.9, 100), { startS: 97.902, endS: 99.902 });
  assert.deepEqual(zoomed(whole(1), 10, 0.5, 1), whole(1));
  assert.deepEqual(panned(span, -1000, 100), { startS: 0, endS: 50 });
  assert.deepEqual(panned(span, 1000, 100), { startS: 50, endS: 100 });
});

test('a window that is chosen comes into sight, and the rest stays where it is', () => {
  const span = { startS: 20, endS: 40 };
  assert.equal(showing(span, { startS: 25, endS: 30 }, 100), span);
  assert.deepEqual(showing(span, { startS: 5, endS: 10 }, 100), { startS: 5, endS: 25 });
  assert.deepEqual(showing(span, { startS: 60, endS: 65 }, 100), { startS: 45, endS: 65 });
  assert.deepEqual(showing({ startS: 20, endS: 22 }, { startS: 60, endS: 65 }, 100), {
    startS: 60,
    endS: 65,
  });
});

test('the window at a time is found, or the nearest one', () => {
  const windows = [
    { startS: 0, endS: 5 },
    { startS: 20, endS: 25 },
    { startS: 22, endS: 27 },
  ];
  assert.deepEqual(
    [0, 4, 7, 18, 21, 23, 99, -1].map((time) => windowAt(windows, time)),
    [0, 0, 0, 1, 1, 2, 2, 0],
  );
  assert.equal(windowAt([], 3), -1);
});

test('only the windows in sight are drawn, and columns keep the highest score of either kind', () => {
  const windows = windowsOfLength(4320);
  assert.deepEqual(visibleWindows(windows, { startS: 1000, endS: 1012 }), [200, 203]);
  assert.deepEqual(visibleWindows(windows, whole(21_600)), [0, 4320]);
  const columns = columnsOf(windows, whole(21_600), 50);
  assert.equal(columns.length, 432);
  assert.deepEqual(columns[4], { column: 4, spoofed: undefined, bonafide: 0.49 });
  assert.deepEqual(columns[5], { column: 5, spoofed: 0.59, bonafide: undefined });
  const mixed = columnsOf(windows, whole(21_600), 500);
  assert.deepEqual(mixed[0], { column: 0, spoofed: 0.99, bonafide: 0.49 });
});

test('peaks of every length of column are those of the samples', () => {
  const rateHz = 1000;
  const samples = Float32Array.from({ length: 100_000 }, (_, i) => Math.sin(i * i * 0.001) * (i / 100_000));
  const builder = new PeaksBuilder(samples.length / rateHz, rateHz);
  for (let at = 0; at < samples.length; at += 333) builder.add(samples.subarray(at, at + 333));
  const peaks = builder.done();
  for (const columnS of [0.001, 0.1, 1, 10]) {
    const level = levelFor(peaks, columnS);
    assert.ok(level && level.binS <= columnS);
    // Not much finer than a column, which makes it fast.
    assert.ok(level === peaks.at(-1) || columnS / level.binS < 4);
    for (let startS = 0; startS + 4 * level.binS <= 100; startS += 7) {
      const [low, high] = peakIn(level, startS, startS + columnS) ?? [];
      const from = Math.floor(startS / level.binS) * level.binS * rateHz;
      const to = Math.ceil((startS + columnS) / level.binS) * level.binS * rateHz;
      const part = samples.subarray(Math.round(from), Math.round(to));
      assert.ok(Math.abs((low ?? 9) - Math.min(...part)) < 0.01, `${columnS} at ${startS}`);
      assert.ok(Math.abs((high ?? 9) - Math.max(...part)) < 0.01, `${columnS} at ${startS}`);
    }
  }
  const finest = peaks[0];
  assert.ok(finest && peakIn(finest, 100, 101) === undefined);
});

test('peaks of a day stay small', () => {
  const builder = new PeaksBuilder(86_400, 8000);
  builder.add(new Float32Array(8000));
  assert.ok(builder.done().length >= 1);
  const whole = new PeaksBuilder(86_400, 10);
  whole.add(new Float32Array(864_000));
  const bytes = whole.done().reduce((sum, { low, high }) => sum + low.byteLength + high.byteLength, 0);
  assert.ok(bytes < 12_000_000, `${bytes} bytes`);
});

test('more samples than were announced are left out', () => {
  const builder = new PeaksBuilder(1, 1000);
  builder.add(new Float32Array(5000).fill(0.5));
  const [finest] = builder.done();
  assert.ok(finest && finest.low.length * finest.binS <= 1.1);
});

test('quiet audio is enlarged to the height of its row, but silence and noise are not', () => {
  const gainAt = (loudest: number): number => {
    const builder = new PeaksBuilder(1, 1000);
    builder.add(Float32Array.from({ length: 1000 }, (_, i) => (i === 500 ? -loudest : 0)));
    return gainOf(builder.done());
  };
  assert.deepEqual([1, 0, 0.0001].map(gainAt), [1, 1, 30]);
  assert.ok(Math.abs(gainAt(0.1) - 10) < 0.01);
});
