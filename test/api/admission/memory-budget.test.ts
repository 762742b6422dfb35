// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UploadArena } from '../../../src/analysis/memory/arena.js';
import { HeldMemory, MemoryBudget } from '../../../src/api/admission/memory-budget.js';
import { ArenaQueue } from '../../../src/api/upload/arena-queue.js';
import { GrowingBytes } from '../../../src/api/upload/growing-bytes.js';

const PAGE = 4096;
const KEY = { key: 'a', address: '192.0.2.1' };

test('memory that is refused leaves everything as it was', () => {
  const budget = new MemoryBudget(1000);
  const held = new HeldMemory(budget, KEY, 600);
  assert.throws(() => held.resize(1001), { key: 'OVERLOADED', message: /1000 bytes of memory/ });
  assert.throws(() => new HeldMemory(budget, KEY, 401), { key: 'OVERLOADED' });
  assert.equal(budget.usedBytes, 600);
  held.resize(1000);
  held.release();
  held.release();
  assert.equal(budget.usedBytes, 0);
});

test('a key has its share, wherever the memory lies', () => {
  const queue = new ArenaQueue(new UploadArena(10 * PAGE), {
    maxWaiting: 4,
    timeoutMs: 60_000,
    percents: { key: 50 },
  });
  const held = new HeldMemory(queue.memory, KEY, 3 * PAGE);
  assert.ok(queue.reserve(2 * PAGE, KEY));
  assert.equal(queue.reserve(PAGE, KEY), undefined);
  assert.throws(() => held.resize(4 * PAGE), { key: 'OVERLOADED', message: /of memory of one key/ });
  assert.ok(queue.reserve(PAGE, { key: 'b' }));
});

test('an upload waits for memory outside the arena, and gets it when that is given back', () => {
  const queue = new ArenaQueue(new UploadArena(2 * PAGE), { maxWaiting: 4, timeoutMs: 60_000 });
  const held = new HeldMemory(queue.memory, { key: 'b' }, 2 * PAGE);
  assert.equal(queue.reserve(PAGE, KEY), undefined);
  let granted = 0;
  queue.wait(
    PAGE,
    () => granted++,
    () => assert.fail(),
    KEY,
  );
  held.resize(PAGE + 1);
  assert.equal(granted, 0);
  held.resize(PAGE);
  assert.equal(granted, 1);
});

test('pages of the arena that hold nothing are given back when other memory needs them, however busy it is', () => {
  const mebibyte = 1 << 20;
  const released: number[] = [];
  const arena = new UploadArena(64 * mebibyte, (_offset, length) => void released.push(length));
  const queue = new ArenaQueue(arena, { maxWaiting: 4, timeoutMs: 60_000 });
  const region = queue.reserve(60 * mebibyte) ?? assert.fail();
  queue.release(region);
  new HeldMemory(queue.memory, KEY, 2 * mebibyte);
  assert.deepEqual(released, []);
  new HeldMemory(queue.memory, KEY, 20 * mebibyte);
  assert.deepEqual(released, [56 * mebibyte]);
});

test('many small pieces take about as much memory as they hold', () => {
  const grown = new GrowingBytes();
  const expected = Buffer.from(Array.from({ length: 300_000 }, (_, i) => i % 251));
  for (const byte of expected.subarray(0, 100_000)) grown.append(Uint8Array.of(byte));
  grown.append(expected.subarray(100_000));
  assert.deepEqual(grown.bytes, expected);
  assert.equal(grown.length, expected.length);
  assert.ok(grown.capacity <= expected.length + 64 * 1024);
  assert.equal(new GrowingBytes().bytes.length, 0);
});
