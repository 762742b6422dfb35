// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InFlightLedger } from '../../src/service/supervision/in-flight-ledger.js';

test('what a process tells after its end counts for nothing', () => {
  const ledger = new InFlightLedger<object>();
  const [ended, other] = [{}, {}];
  ledger.set(ended, 'key', 3);
  assert.equal(ledger.elsewhere(other, 'key'), 3);
  assert.deepEqual(ledger.remove(ended), ['key']);
  ledger.set(ended, 'key', 2);
  assert.equal(ledger.elsewhere(other, 'key'), 0);
  assert.deepEqual(ledger.keyIds, []);
});
