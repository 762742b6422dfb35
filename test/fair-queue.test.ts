// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FairQueue } from '../src/scoring/fair-queue.js';

function drain<Item>(queue: FairQueue<string, Item>): Item[] {
  const items: Item[] = [];
  for (let item = queue.shift(); item !== undefined; item = queue.shift()) items.push(item);
  return items;
}

test('an empty queue gives nothing', () => {
  const queue = new FairQueue<string, string>();
  assert.equal(queue.shift(), undefined);
  assert.equal(queue.peek(), undefined);
  assert.equal(queue.size, 0);
  assert.deepEqual(queue.remove('nobody'), []);
});

test('a late owner does not wait for all of an early one', () => {
  const queue = new FairQueue<string, string>();
  for (const item of ['a1', 'a2', 'a3', 'a4']) queue.push('a', item);
  queue.push('b', 'b1');
  queue.push('b', 'b2');
  assert.equal(queue.peek(), 'a1');
  assert.deepEqual(drain(queue), ['a1', 'b1', 'a2', 'b2', 'a3', 'a4']);
  assert.equal(queue.size, 0);
});

test('an owner that comes back goes to the end of the round', () => {
  const queue = new FairQueue<string, string>();
  queue.push('a', 'a1');
  queue.push('b', 'b1');
  queue.push('c', 'c1');
  assert.equal(queue.shift(), 'a1');
  queue.push('a', 'a2');
  assert.deepEqual(drain(queue), ['b1', 'c1', 'a2']);
});

test('removing an owner takes its items and leaves the others in order', () => {
  const queue = new FairQueue<string, string>();
  queue.push('a', 'a1');
  queue.push('b', 'b1');
  queue.push('a', 'a2');
  queue.push('b', 'b2');
  assert.deepEqual(queue.remove('a'), ['a1', 'a2']);
  assert.equal(queue.size, 2);
  assert.deepEqual(drain(queue), ['b1', 'b2']);
});
