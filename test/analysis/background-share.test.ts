// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BackgroundShare } from '../../src/analysis/threads/background-share.js';

test('the first turn is due at once, and none while one is taken', () => {
  const share = new BackgroundShare();
  assert.ok(share.isDue(0));
  share.begin();
  assert.ok(!share.isDue(1e9));
});

test('a short turn is followed by two seconds without one', () => {
  const share = new BackgroundShare();
  share.begin();
  share.end(30, 1000);
  assert.ok(!share.isDue(2999));
  assert.ok(share.isDue(3000));
});

test('a long turn takes no more than a twentieth of the time', () => {
  const share = new BackgroundShare();
  let takenMs = 0;
  let nowMs = 0;
  while (nowMs < 1e6) {
    if (share.isDue(nowMs)) {
      share.begin();
      nowMs += 500;
      takenMs += 500;
      share.end(500, nowMs);
    }
    nowMs += 10;
  }
  assert.ok(takenMs / nowMs > 0.045 && takenMs / nowMs <= 0.05, `${takenMs / nowMs}`);
});
