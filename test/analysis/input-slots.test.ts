// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { InputSlots } from '../../src/analysis/memory/input-slots.js';

test('no slot is given twice, and none beyond the count', () => {
  const slots = InputSlots.create(3, 4);
  const taken = [slots.acquire(0), slots.acquire(0), slots.acquire(0)];
  assert.deepEqual(new Set(taken), new Set([0, 1, 2]));
  assert.equal(slots.acquire(0), undefined);
  assert.equal(slots.acquire(5), undefined);
  slots.release(1);
  assert.equal(slots.acquire(0), 1);
});

test('giving back a slot that is not taken is refused', () => {
  const slots = InputSlots.create(2, 4);
  assert.throws(() => slots.release(0), /was not taken/);
  assert.equal(slots.freeCount, 2);
});

test('views of different slots do not overlap', () => {
  const slots = InputSlots.create(3, 4);
  [0, 1, 2].forEach((slot) => {
    slots.view(slot, 4).fill(slot + 1);
  });
  assert.deepEqual(
    [...slots.view(0, 4), ...slots.view(1, 4), ...slots.view(2, 4)],
    [1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3],
  );
  assert.equal(slots.view(1, 2).length, 2);
});

test('threads that compete for few slots never hold the same one', async () => {
  const slots = InputSlots.create(2, 1);
  const overlaps = new SharedArrayBuffer(4);
  const module = new URL('../../src/analysis/memory/input-slots.js', import.meta.url).href;
  const source = `
    import { workerData } from 'node:worker_threads';
    const { InputSlots } = await import(workerData.module);
    const slots = new InputSlots(workerData.shared);
    const overlaps = new Int32Array(workerData.overlaps);
    for (let i = 0; i < 3000; i++) {
      const slot = slots.acquire(10000);
      const view = slots.view(slot, 1);
      if (view[0] !== 0) Atomics.add(overlaps, 0, 1);
      view[0] = 1;
      view[0] = 0;
      slots.release(slot);
    }`;
  const url = new URL(`data:text/javascript,${encodeURIComponent(source)}`);
  const workers = Array.from(
    { length: 4 },
    () => new Worker(url, { workerData: { module, shared: slots.shared, overlaps } }),
  );
  for (const [code] of await Promise.all(workers.map((worker) => once(worker, 'exit'))))
    assert.equal(code, 0);
  assert.equal(new Int32Array(overlaps)[0], 0);
  assert.equal(slots.freeCount, 2);
});
