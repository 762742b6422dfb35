// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type ArenaRegion, UploadArena } from '../../../src/analysis/memory/arena.js';
import { ArenaQueue } from '../../../src/api/upload/arena-queue.js';

const PAGE = 4096;
const unexpected = (): never => assert.fail('nobody should be served or refused here');
const some = (region: ArenaRegion | undefined): ArenaRegion => {
  assert.ok(region !== undefined);
  return region;
};

describe('the arena', () => {
  test('refuses what does not fit, and a second release of the same region', () => {
    const arena = new UploadArena(4 * PAGE);
    assert.equal(arena.reserve(4 * PAGE + 1), undefined);
    const region = some(arena.reserve(4 * PAGE));
    assert.equal(arena.reserve(1), undefined);
    arena.release(region);
    assert.throws(() => arena.release(region), /released twice/);
    assert.equal(arena.usedBytes, 0);
  });

  test('reuses the lowest addresses and joins free neighbours', () => {
    const arena = new UploadArena(8 * PAGE);
    const [a, b, c] = [some(arena.reserve(PAGE)), some(arena.reserve(2 * PAGE)), some(arena.reserve(PAGE))];
    assert.deepEqual([a.offset, b.offset, c.offset], [0, PAGE, 3 * PAGE]);
    arena.release(b);
    arena.release(a);
    assert.equal(some(arena.reserve(3 * PAGE)).offset, 0);
    arena.release(c);
    assert.equal(some(arena.reserve(5 * PAGE)).offset, 3 * PAGE);
    assert.equal(arena.freeBytes, 0);
  });

  test('counts whole pages and frees the end of a region that shrinks', () => {
    const arena = new UploadArena(4 * PAGE);
    const region = some(arena.reserve(3 * PAGE + 1));
    assert.equal(arena.usedBytes, 4 * PAGE);
    const smaller = arena.shrink(region, PAGE - 1);
    assert.deepEqual(smaller, { offset: 0, length: PAGE - 1 });
    assert.equal(arena.usedBytes, PAGE);
    assert.equal(some(arena.reserve(3 * PAGE)).offset, PAGE);
    arena.release(smaller);
    assert.equal(arena.usedBytes, 3 * PAGE);
  });

  test('regions never overlap and nothing is lost over many random steps', () => {
    const arena = new UploadArena(64 * PAGE);
    const held: ArenaRegion[] = [];
    let state = 7;
    const random = (below: number): number => {
      state = (Math.imul(state, 1103515245) + 12345) >>> 0;
      return (state >>> 8) % below;
    };
    for (let step = 0; step < 20_000; step++) {
      const index = random(held.length + 1);
      const region = held[index];
      if (region === undefined) {
        const reserved = arena.reserve(random(12 * PAGE));
        if (reserved !== undefined) held.push(reserved);
      } else if (random(4) === 0) {
        held[index] = arena.shrink(region, random(region.length + 1));
      } else {
        arena.release(region);
        held.splice(index, 1);
      }
      if (step % 100 === 0) {
        const pages = new Set<number>();
        let count = 0;
        for (const { offset, length } of held) {
          for (let at = 0; at < Math.max(1, length); at += PAGE) {
            pages.add(offset / PAGE + at / PAGE);
            count++;
          }
        }
        assert.equal(pages.size, count);
        assert.equal(arena.usedBytes, count * PAGE);
      }
    }
    for (const region of held) arena.release(region);
    assert.equal(some(arena.reserve(64 * PAGE)).offset, 0);
  });

  test('gives free memory that was touched back to the system, and only that', () => {
    const mebibyte = 1 << 20;
    const given: [number, number][] = [];
    const arena = new UploadArena(64 * mebibyte, (offset, length) => given.push([offset, length]));
    const low = some(arena.reserve(6 * mebibyte));
    const middle = some(arena.reserve(6 * mebibyte));
    const high = some(arena.reserve(6 * mebibyte));
    arena.release(low);
    arena.release(high);
    arena.trim();
    assert.deepEqual(given, [
      [4 * mebibyte, 2 * mebibyte],
      [12 * mebibyte, 6 * mebibyte],
    ]);
    arena.release(middle);
    given.length = 0;
    arena.trim();
    assert.deepEqual(given, [[4 * mebibyte, 8 * mebibyte]]);
    given.length = 0;
    arena.trim();
    assert.deepEqual(given, []);
  });
});

describe('the queue for room in the arena', () => {
  const longMs = 60_000;

  test('serves in order of arrival: a small one does not overtake a large one', () => {
    const arena = new UploadArena(4 * PAGE);
    const queue = new ArenaQueue(arena, { maxWaiting: 4, timeoutMs: longMs });
    const first = some(queue.reserve(3 * PAGE));
    const served: string[] = [];
    const regions: ArenaRegion[] = [];
    const take = (name: string) => (region: ArenaRegion) => {
      served.push(name);
      regions.push(region);
    };
    queue.wait(4 * PAGE, take('large'), unexpected);
    assert.equal(queue.reserve(PAGE), undefined, 'there is a free page, but others were here first');
    queue.wait(PAGE, take('small'), unexpected);
    queue.release(first);
    assert.deepEqual(served, ['large']);
    queue.release(some(regions[0]));
    assert.deepEqual(served, ['large', 'small']);
    queue.release(some(regions[1]));
    assert.equal(arena.usedBytes, 0);
  });

  test('who leaves makes way for those behind', () => {
    const queue = new ArenaQueue(new UploadArena(2 * PAGE), { maxWaiting: 4, timeoutMs: longMs });
    const first = some(queue.reserve(PAGE));
    const leave = queue.wait(2 * PAGE, unexpected, unexpected);
    let served: ArenaRegion | undefined;
    queue.wait(PAGE, (region) => (served = region), unexpected);
    assert.equal(served, undefined);
    leave();
    leave();
    queue.release(some(served));
    queue.release(first);
    assert.equal(queue.arena.usedBytes, 0);
  });

  test('a region that is given back while it is granted goes to the next', () => {
    const queue = new ArenaQueue(new UploadArena(PAGE), { maxWaiting: 4, timeoutMs: longMs });
    const first = some(queue.reserve(PAGE));
    let served = 0;
    for (let i = 0; i < 3; i++) {
      queue.wait(
        PAGE,
        (region) => {
          served++;
          queue.release(region);
        },
        unexpected,
      );
    }
    queue.release(first);
    assert.equal(served, 3);
    assert.equal(queue.waiting, 0);
  });

  test('is bounded in number and in time', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const queue = new ArenaQueue(new UploadArena(PAGE), { maxWaiting: 1, timeoutMs: 1000 });
    const first = some(queue.reserve(PAGE));
    const refusals: string[] = [];
    queue.wait(PAGE, unexpected, (error) => refusals.push(error.key));
    assert.throws(() => queue.wait(PAGE, unexpected, unexpected), { key: 'OVERLOADED' });
    t.mock.timers.tick(999);
    assert.deepEqual(refusals, []);
    t.mock.timers.tick(1);
    assert.deepEqual(refusals, ['OVERLOADED']);
    queue.release(first);
    assert.equal(queue.waiting, 0);
  });
});
