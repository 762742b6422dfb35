// SPDX-License-Identifier: Apache-2.0
//
// A flood of refusals must not become a flood of log lines.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RefusalLines } from '../../src/base/observe/refusal-lines.js';
import { eventually } from '../support/eventually.js';
import { fileEntry, formBody } from '../support/form-body.js';
import { holdAnalyses } from '../support/held-analyses.js';
import { predict } from '../support/http-client.js';
import { startTestServer } from '../support/test-server.js';

const body = formBody([fileEntry('x')]);

test('many refusals of one key have few lines; the others are counted, and one line gives their number', async (t) => {
  const server = await startTestServer(t, { maxInflightRequests: 1, logLevel: 'info' });
  const held = holdAnalyses(server);
  const admitted = predict(server.port, body);
  await held.running(1);
  const sent = 60;
  const refused = await Promise.all(Array.from({ length: sent }, () => predict(server.port, body)));
  for (const { status } of refused) assert.equal(status, 503);
  held.finish();
  assert.equal((await admitted).status, 200);
  const linesOf = (key: string | undefined) =>
    server.log.filter(({ msg, errorKey }) => msg === 'request' && errorKey === key).length;
  const leftOut = () =>
    server.log
      .filter(({ msg }) => msg === 'refused requests without a line of their own')
      .reduce((sum, { lines }) => sum + Number(lines), 0);
  await eventually(() => linesOf('OVERLOADED') + leftOut() === sent, 'lines give the number of the others');
  const written = linesOf('OVERLOADED');
  // Ten for each second that they took.
  assert.ok(written >= 10 && written < sent, `${written} lines`);
  assert.equal(written + (await server.metric('veravox_log_lines_left_out_total')), sent);
  assert.equal(leftOut(), sent - written);
  assert.equal(linesOf(undefined), 1);
});

test('each key has lines of its own, and other failures have all of theirs', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const sums: number[] = [];
  let leftOut = 0;
  const refusals = new RefusalLines({
    maxPerS: 2,
    onLeftOut: () => leftOut++,
    onSum: (lines) => sums.push(lines),
  });
  const ask = (keyId: string | undefined, errorKey: 'OVERLOADED' | 'FILE_EMPTY') =>
    refusals.mayWrite({ ...(keyId !== undefined && { keyId }), errorKey });
  const times = (count: number, one: () => boolean) => Array.from({ length: count }, one);
  assert.deepEqual(
    times(4, () => ask('a', 'OVERLOADED')),
    [true, true, false, false],
  );
  assert.equal(ask('b', 'OVERLOADED'), true);
  assert.deepEqual(
    times(3, () => ask(undefined, 'OVERLOADED')),
    [true, true, false],
  );
  assert.ok(times(100, () => ask('a', 'FILE_EMPTY')).every(Boolean));
  assert.equal(leftOut, 3);
  assert.deepEqual(sums, []);
  t.mock.timers.tick(1000);
  assert.deepEqual(sums, [3]);
  assert.equal(ask('a', 'OVERLOADED'), true);
  t.mock.timers.tick(1000);
  assert.deepEqual(sums, [3]);
});
