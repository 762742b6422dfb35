// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { Heartbeat } from '../../src/service/supervision/heartbeat.js';

const LIMIT_MS = 1000;

function started(t: TestContext, { serves }: { readonly serves: boolean }) {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const counts = { asked: 0, silent: 0 };
  const heartbeat = new Heartbeat({
    limitMs: LIMIT_MS,
    ask: () => counts.asked++,
    onSilence: () => counts.silent++,
  });
  t.after(() => heartbeat.end());
  if (serves) {
    heartbeat.answered();
    heartbeat.serves();
  }
  const pass = (ms: number): void => t.mock.timers.tick(ms);
  return { heartbeat, counts, pass };
}

test('a process that does not answer is told of once per limit', (t) => {
  const { counts, pass } = started(t, { serves: true });
  pass(200);
  assert.deepEqual(counts, { asked: 1, silent: 0 });
  pass(LIMIT_MS - 1);
  assert.deepEqual(counts, { asked: 1, silent: 0 });
  pass(1);
  assert.deepEqual(counts, { asked: 1, silent: 1 });
  pass(LIMIT_MS);
  assert.deepEqual(counts, { asked: 1, silent: 2 });
});

test('an answer that comes at the last moment is in time', (t) => {
  const { heartbeat, counts, pass } = started(t, { serves: true });
  pass(200);
  for (let i = 0; i < 10; i++) {
    pass(LIMIT_MS - 1);
    heartbeat.answered();
    pass(1);
  }
  assert.equal(counts.silent, 0);
  assert.equal(counts.asked, 11);
});

test('a process that starts has six times as long, and is asked nothing before it opens', (t) => {
  const { counts, pass } = started(t, { serves: false });
  pass(6 * LIMIT_MS - 1);
  assert.deepEqual(counts, { asked: 0, silent: 0 });
  pass(1);
  assert.deepEqual(counts, { asked: 0, silent: 1 });
});

test('nothing is asked after the end', (t) => {
  const { heartbeat, counts, pass } = started(t, { serves: true });
  heartbeat.end();
  pass(100 * LIMIT_MS);
  assert.deepEqual(counts, { asked: 0, silent: 0 });
});
