// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FairQueue } from '../../src/analysis/threads/fair-queue.js';
import { GroupedFairQueue } from '../../src/analysis/threads/grouped-fair-queue.js';

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

test('whoever was served last comes after all newcomers, and gets every other turn from one that always comes back', () => {
  const queue = new FairQueue<string, string>();
  for (const item of ['a1', 'a2', 'a3', 'a4']) queue.push('a', item);
  assert.equal(queue.shift(), 'a1');
  queue.push('b', 'b1');
  queue.push('c', 'c1');
  assert.equal(queue.shift(), 'b1');
  queue.push('b', 'b2');
  assert.equal(queue.shift(), 'c1');
  assert.equal(queue.shift(), 'a2');
  assert.equal(queue.shift(), 'b2');
  queue.push('b', 'b3');
  assert.deepEqual(drain(queue), ['a3', 'b3', 'a4']);
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

test('one item can be taken out, and only while it is there', () => {
  const queue = new FairQueue<string, string>();
  queue.push('a', 'a1');
  queue.push('a', 'a2');
  queue.push('b', 'b1');
  assert.equal(queue.take('a', 'a1'), true);
  assert.equal(queue.take('a', 'a1'), false);
  assert.equal(queue.take('c', 'a2'), false);
  assert.equal(queue.take('b', 'b1'), true);
  assert.equal(queue.size, 1);
  assert.deepEqual(drain(queue), ['a2']);
});

test('a group that was served last comes after a new one', () => {
  const queue = new GroupedFairQueue<{ group: string }, string>();
  const greedy = { group: 'greedy' };
  for (const item of ['1', '2', '3']) queue.push(greedy, item);
  assert.equal(queue.shift(), '1');
  queue.push({ group: 'b' }, 'b1');
  queue.push({ group: 'c' }, 'c1');
  assert.deepEqual([queue.shift(), queue.shift(), queue.shift(), queue.shift()], ['b1', 'c1', '2', '3']);
});

test('groups take turns, however many owners they have, and their owners within them', () => {
  const queue = new GroupedFairQueue<{ group: string }, string>();
  const [first, second, third, other] = [
    { group: 'greedy' },
    { group: 'greedy' },
    { group: 'greedy' },
    { group: 'b' },
  ] as const;
  for (const item of ['1.1', '1.2', '1.3']) queue.push(first, item);
  queue.push(second, '2.1');
  queue.push(third, '3.1');
  queue.push(other, 'b1');
  queue.push(other, 'b2');
  assert.equal(queue.size, 7);
  assert.deepEqual(queue.remove(third), ['3.1']);
  assert.deepEqual(queue.remove({ group: 'unknown' }), []);
  const items: (string | undefined)[] = [];
  while (queue.size > 0) {
    const next = queue.peek();
    items.push(queue.shift());
    assert.equal(items.at(-1), next);
  }
  assert.deepEqual(items, ['1.1', 'b1', '2.1', 'b2', '1.2', '1.3']);
  queue.push(other, 'b3');
  assert.deepEqual(queue.remove(other), ['b3']);
  assert.equal(queue.peek(), undefined);
  assert.equal(queue.shift(), undefined);
});
