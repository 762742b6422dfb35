// SPDX-License-Identifier: Apache-2.0
//
// A job's file must arrive at a minimum pace. Time is simulated: timers tick on the test's command.
import assert from 'node:assert/strict';
import { mock, type TestContext, test } from 'node:test';
import { PacedSource } from '../../src/base/byte-source/paced-source.js';
import { MemoryByteSource } from '../support/byte-sources.js';

const BLOCK = 1 << 20;
const KIB = 1024;
const never = new AbortController().signal;

/** A source whose blocks arrive when they are released, and a clock. */
function startSlow(t: TestContext, mustEnd = () => false) {
  mock.timers.enable({ apis: ['setInterval'] });
  t.after(() => mock.timers.reset());
  let nowMs = 0;
  const held: (() => void)[] = [];
  const memory = new MemoryByteSource(Buffer.alloc(64 * BLOCK));
  memory.beforeRead = (_offset, _length, signal) =>
    new Promise((resolve, reject) => {
      held.push(resolve);
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
  const source = new PacedSource(memory, {
    failure: (problem) => new Error(problem),
    mustEnd,
    clockMs: () => nowMs,
  });
  return {
    source,
    memory,
    pass(seconds: number): void {
      for (let i = 0; i < seconds; i++) {
        nowMs += 1000;
        mock.timers.tick(1000);
      }
    },
    async release(): Promise<void> {
      held.shift()?.();
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

test('a file that comes too slowly is given up, however small its sips', async (t) => {
  const { source, pass, release } = startSlow(t);
  const readings: Promise<void>[] = [];
  // Three blocks at a time, like a job's reads: 60 KiB/s.
  for (let i = 0; i < 3; i++) readings.push(source.read(new Uint8Array(BLOCK), i * BLOCK, never));
  const ended = Promise.allSettled(readings);
  let failure: unknown;
  let passedS = 0;
  for (; failure === undefined && passedS < 1000; passedS += 17) {
    pass(17);
    await release();
    const next = source.read(new Uint8Array(BLOCK), 0, never);
    await Promise.race([next, new Promise((resolve) => setImmediate(resolve))]).catch((error) => {
      failure = error;
    });
    next.catch(() => {});
  }
  assert.match(String(failure), /sent less than 131072 bytes\/s for 120 s/);
  assert.ok(passedS < 300, `${passedS} s`);
  await ended;
});

test('one that comes just fast enough is read on, and time in which nobody waits does not count', async (t) => {
  const { source, memory, pass, release } = startSlow(t);
  for (let block = 0; block < 60; block++) {
    const read = source.read(new Uint8Array(BLOCK), block * BLOCK, never);
    pass(BLOCK / (128 * KIB));
    await release();
    await read;
    // The analysis takes time.
    pass(100);
  }
  assert.equal(memory.readBytes, 60 * BLOCK);
});

test('a stop of the reader is passed on as it is', async (t) => {
  const { source } = startSlow(t);
  const stop = new AbortController();
  const read = source.read(new Uint8Array(BLOCK), 0, stop.signal);
  stop.abort(new Error('The worker stops.'));
  await assert.rejects(read, /The worker stops/);
  await source.close();
});

test('while others wait, a source that is waited for too long ends the turn', async (t) => {
  let isOverdue = false;
  const { source, pass } = startSlow(t, () => isOverdue);
  const read = source.read(new Uint8Array(BLOCK), 0, never);
  pass(60);
  isOverdue = true;
  pass(1);
  await assert.rejects(read, /others would wait too long/);
});
