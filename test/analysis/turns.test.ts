// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Turns } from '../../src/analysis/threads/turns.js';

test('one owner is alone, however often it asks', () => {
  const turns = new Turns();
  for (let nowMs = 0; nowMs < 100; nowMs++) turns.note('a', nowMs);
  assert.equal(turns.areSeveral(100), false);
});

test('another owner makes several, until one has been alone for five seconds', () => {
  const turns = new Turns();
  turns.note('a', 0);
  turns.note('b', 1000);
  assert.equal(turns.areSeveral(1000), true);
  for (let nowMs = 1001; nowMs <= 6000; nowMs++) turns.note('b', nowMs);
  assert.equal(turns.areSeveral(5999), true);
  assert.equal(turns.areSeveral(6000), false);
  turns.note('a', 6001);
  assert.equal(turns.areSeveral(6001), true);
});
