// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dayIn } from '../../src/cli/days.js';

const now = new Date('2026-03-01T00:30:00Z');

test('days are UTC days, by date or counted back from today', () => {
  assert.equal(dayIn('today', now), '2026-03-01');
  assert.equal(dayIn('yesterday', now), '2026-02-28');
  assert.equal(dayIn('0d', now), '2026-03-01');
  assert.equal(dayIn('30d', now), '2026-01-30');
  assert.equal(dayIn('2024-02-29', now), '2024-02-29');
});

for (const text of ['', 'tomorrow', '2026-02-31', '2026-2-1', '-1d', '1w', '999999d', 'constructor']) {
  test(`${text || 'nothing'} is no day`, () => {
    assert.equal(dayIn(text, now), undefined);
  });
}
