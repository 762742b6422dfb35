// SPDX-License-Identifier: Apache-2.0
//
// Assignment of a process's places, and the length of a turn while others wait. Time is simulated.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FairPlaces, type WaitingWork } from '../../src/jobs/turns/fair-places.js';
import { TurnOver, TurnSlice } from '../../src/jobs/turns/turn-slice.js';

/** A queue in strict order, whatever the account. */
class Queue implements WaitingWork<string> {
  readonly accounts: string[];
  readonly #places: FairPlaces;
  /** In order of their start. */
  readonly begun: string[] = [];

  constructor(places: FairPlaces, ...accounts: string[]) {
    this.#places = places;
    this.accounts = accounts;
  }

  take = async (except: readonly string[]): Promise<string | undefined> => {
    const at = this.accounts.findIndex((account) => !except.includes(account));
    return at === -1 ? undefined : this.accounts.splice(at, 1)[0];
  };

  waits = async (except: readonly string[]): Promise<boolean> =>
    this.accounts.some((account) => !except.includes(account));

  fill(): Promise<void> {
    return this.#places.fill(this, (account) => {
      this.begun.push(account);
      this.#places.enter(account);
    });
  }

  /** Like a turn that ends at a checkpoint. */
  async makeRoom(account: string): Promise<void> {
    assert.ok(this.#places.makesRoom(account));
    this.#places.leave(account);
    this.accounts.unshift(account);
    await this.fill();
  }

  async end(account: string): Promise<void> {
    this.#places.leave(account);
    await this.fill();
  }
}

const thousand = (account: string): string[] => Array<string>(1000).fill(account);

test('one item of an account does not wait for a thousand of another', async () => {
  for (const options of [
    { places: 1, spare: 1 },
    { places: 4, spare: 1 },
    { places: 32, perAccount: 8 },
  ]) {
    const places = new FairPlaces(options);
    const queue = new Queue(places, ...thousand('slow'));
    await queue.fill();
    assert.equal(queue.begun.length, options.perAccount ?? options.places);
    queue.accounts.push('quick');
    await queue.fill();
    assert.equal(queue.begun.at(-1), 'quick', JSON.stringify(options));
    await queue.end('quick');
    assert.equal(places.busy, options.perAccount ?? options.places, 'the spare place is for others');
  }
});

test('if all places are taken, accounts make room for others in turn', async () => {
  const places = new FairPlaces({ places: 1, spare: 1 });
  const queue = new Queue(places, ...thousand('a'), ...thousand('b'));
  await queue.fill();
  assert.deepEqual(queue.begun, ['a', 'b']);
  assert.equal(places.makesRoom('a'), false, 'nobody waits');
  queue.accounts.push('c', 'd', 'c');
  await queue.fill();
  await queue.makeRoom('a');
  assert.equal(queue.begun.at(-1), 'c');
  assert.equal(places.makesRoom('b'), true, 'd waits, too');
  await queue.end('c');
  assert.equal(queue.begun.at(-1), 'd', 'neither a, which made room, nor c, which had its turn');
  await queue.end('d');
  assert.equal(queue.begun.at(-1), 'a', 'all had a turn, and it is in front');
});

test('an account with more work in hand makes room before others', async () => {
  const places = new FairPlaces({ places: 3 });
  const queue = new Queue(places, 'a', 'b', 'a', 'c');
  await queue.fill();
  assert.deepEqual(queue.begun, ['a', 'b', 'c']);
  const crowded = new FairPlaces({ places: 3 });
  const other = new Queue(crowded, 'a', 'a', 'b');
  await other.fill();
  other.accounts.push('c');
  await other.fill();
  assert.equal(crowded.makesRoom('b'), false);
  await other.makeRoom('a');
  assert.deepEqual(other.begun, ['a', 'b', 'a', 'c']);
});

test('who made room is not passed over for ever', async () => {
  const places = new FairPlaces({ places: 1 });
  const queue = new Queue(places, 'long');
  await queue.fill();
  queue.accounts.push(...thousand('busy'));
  await queue.fill();
  await queue.makeRoom('long');
  assert.equal(queue.begun.at(-1), 'busy');
  await queue.end('busy');
  assert.equal(queue.begun.at(-1), 'long', 'after one item of the other');
});

test('a spare place is for accounts without work in hand', async () => {
  const places = new FairPlaces({ places: 2, spare: 1 });
  const queue = new Queue(places, 'a', 'b', 'a', 'b');
  await queue.fill();
  assert.deepEqual(queue.begun, ['a', 'b']);
  queue.accounts.push('c');
  await queue.fill();
  assert.equal(queue.begun.at(-1), 'c');
});

test('an account that ends one of two pieces of work still has work in hand', async () => {
  const places = new FairPlaces({ places: 2, spare: 1 });
  const queue = new Queue(places, 'a', 'a');
  await queue.fill();
  queue.accounts.push('b', 'a');
  await queue.fill();
  assert.deepEqual(queue.begun, ['a', 'a', 'b']);
  await queue.end('a');
  assert.deepEqual(queue.accounts, ['a'], 'the spare place is for others');
});

test('as long as nobody makes room, the order of the queue counts', async () => {
  const queue = new Queue(new FairPlaces({ places: 1 }), 'a', 'a', 'b');
  await queue.fill();
  await queue.end('a');
  assert.deepEqual(queue.begun, ['a', 'a']);
});

test('nobody makes room for work that was cancelled', async () => {
  const places = new FairPlaces({ places: 2 });
  const queue = new Queue(places, 'a', 'b', 'c');
  await queue.fill();
  queue.accounts.pop();
  await queue.end('b');
  assert.equal(places.makesRoom('a'), false);
});

test('for one that waits, one makes room', async () => {
  const places = new FairPlaces({ places: 2 });
  const queue = new Queue(places, 'a', 'b', 'c');
  await queue.fill();
  assert.equal(places.makesRoom('a'), true);
  assert.equal(places.makesRoom('b'), false);
});

test('once all had a turn, turns of before do not count', async () => {
  const places = new FairPlaces({ places: 2 });
  const queue = new Queue(places, 'a', 'b', 'c');
  await queue.fill();
  await queue.makeRoom('a');
  await queue.end('c');
  assert.deepEqual(queue.begun, ['a', 'b', 'c', 'a']);
  await queue.end('a');
  queue.accounts.push('b', 'a');
  await queue.fill();
  assert.equal(queue.begun.at(-1), 'a', 'it has no work in hand, and b has');
});

/** A slice and its clock. */
function sliceAt(sliceMs: number, isWanted = () => true) {
  const clock = { nowMs: 0 };
  const slice = new TurnSlice({ sliceMs, overdueMs: 300, isWanted, clockMs: () => clock.nowMs });
  return { clock, slice };
}

test('a turn ends at the first checkpoint after its slice, if others wait', () => {
  const { clock, slice } = sliceAt(100);
  clock.nowMs = 40;
  slice.checkpoint();
  clock.nowMs = 99;
  slice.checkpoint();
  clock.nowMs = 101;
  assert.throws(() => slice.checkpoint(), TurnOver);
  const alone = sliceAt(100, () => false);
  for (const nowMs of [40, 101, 1000]) {
    alone.clock.nowMs = nowMs;
    alone.slice.checkpoint();
  }
});

test('work that takes long to take up again gets at least as long for what is new', () => {
  const { clock, slice } = sliceAt(100);
  clock.nowMs = 1000;
  slice.checkpoint();
  clock.nowMs = 1999;
  slice.checkpoint();
  clock.nowMs = 2000;
  assert.throws(() => slice.checkpoint(), TurnOver);
});

test('a turn without a checkpoint is overdue after a while, if others wait', () => {
  const { clock, slice } = sliceAt(100);
  clock.nowMs = 90;
  slice.checkpoint();
  clock.nowMs = 389;
  assert.equal(slice.isOverdue(), false);
  clock.nowMs = 390;
  assert.equal(slice.isOverdue(), true);
  const alone = sliceAt(100, () => false);
  alone.clock.nowMs = 1000;
  assert.equal(alone.slice.isOverdue(), false);
});
