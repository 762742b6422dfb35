// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FixedWindows } from '../../src/base/fixed-windows.js';

function fixture(maxEvents: number) {
  const clock = { nowMs: 500 };
  return { clock, windows: new FixedWindows(maxEvents, 1000, () => clock.nowMs) };
}

test('a window begins with the first event of its name, and those beyond its limit do not put off its end', () => {
  const { clock, windows } = fixture(2);
  assert.deepEqual(windows.count('a'), { remaining: 1, isExceeded: false, leftMs: 1000 });
  clock.nowMs += 400;
  assert.deepEqual(windows.count('b'), { remaining: 1, isExceeded: false, leftMs: 1000 });
  assert.deepEqual(windows.count('a'), { remaining: 0, isExceeded: false, leftMs: 600 });
  clock.nowMs += 599;
  assert.deepEqual(windows.count('a'), { remaining: 0, isExceeded: true, leftMs: 1 });
  clock.nowMs += 1;
  assert.deepEqual(windows.count('a'), { remaining: 1, isExceeded: false, leftMs: 1000 });
  assert.deepEqual(windows.count('b'), { remaining: 0, isExceeded: false, leftMs: 400 });
});

test('windows that have ended take no memory, however many names there were', () => {
  const { clock, windows } = fixture(1);
  for (let i = 0; i < 1000; i++) windows.count(`${i}`);
  assert.equal(windows.size, 1000);
  clock.nowMs += 999;
  windows.count('late');
  clock.nowMs += 1;
  windows.count('0');
  assert.equal(windows.size, 2);
});
