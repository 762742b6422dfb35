// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InFlightCounts } from '../../src/service/supervision/in-flight-counts.js';

test('what a process tells after its end counts for nothing', () => {
  const inFlight = new InFlightCounts<object>();
  const [ended, other] = [{}, {}];
  inFlight.set(ended, 'key', 3);
  assert.equal(inFlight.elsewhere(other, 'key'), 3);
  assert.deepEqual(inFlight.remove(ended), ['key']);
  inFlight.set(ended, 'key', 2);
  assert.equal(inFlight.elsewhere(other, 'key'), 0);
  assert.deepEqual(inFlight.keyIds, []);
});
