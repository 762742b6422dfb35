// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressBlock } from '../../../src/api/admission/address-block.js';
import { type Holder, SharedBudget } from '../../../src/api/admission/shared-budget.js';

/** Takes units until there is an obstacle; returns their number. */
function takeAll(budget: SharedBudget, holder: Holder): number {
  let taken = 0;
  for (; budget.obstacle(holder, 1) === undefined; taken++) budget.take(holder, 1);
  return taken;
}

test('greedy holders leave others the rest, and the next one its share of that', () => {
  const budget = new SharedBudget(1000, { key: 50 });
  assert.equal(takeAll(budget, { key: 'a' }), 500);
  assert.deepEqual(budget.obstacle({ key: 'a' }, 1), { kind: 'key', held: 500 });
  assert.equal(takeAll(budget, { key: 'b' }), 250);
  assert.equal(takeAll(budget, { key: 'c' }), 125);
  // They regain what they give back only up to their share.
  for (let i = 0; i < 300; i++) budget.give({ key: 'a' }, 1);
  assert.equal(takeAll(budget, { key: 'a' }), 112);
});

test('the even part that greedy holders arrive at is a third for two, a quarter for three', () => {
  for (const count of [2, 3]) {
    const budget = new SharedBudget(1200, { key: 50 });
    const keys = Array.from({ length: count }, (_, i) => ({ key: `key ${i}` }));
    const held = new Map(keys.map(({ key }) => [key, 0]));
    for (let round = 0; round < 20_000; round++) {
      const holder = keys[round % count] as { key: string };
      const units = held.get(holder.key) ?? 0;
      if (units > 0) budget.give(holder, 1);
      held.set(holder.key, Math.max(0, units - 1));
      for (const asking of keys) {
        if (budget.obstacle(asking, 1) !== undefined) continue;
        budget.take(asking, 1);
        held.set(asking.key, (held.get(asking.key) ?? 0) + 1);
      }
    }
    for (const units of held.values())
      assert.ok(Math.abs(units - 1200 / (count + 1)) <= 2, `${units} of ${count}`);
  }
});

test('a holder of nothing may take what is left, however small the share and large the request', () => {
  const budget = new SharedBudget(10, { key: 10 });
  budget.take({ key: 'a' }, 1);
  assert.deepEqual(budget.obstacle({ key: 'a' }, 1), { kind: 'key', held: 1 });
  assert.equal(budget.obstacle({ key: 'b' }, 9), undefined);
  budget.take({ key: 'b' }, 9);
  assert.deepEqual(budget.obstacle({ key: 'c' }, 1), { kind: 'total' });
});

test('each kind of holder has its share: many keys of one address, many addresses of one account', () => {
  const budget = new SharedBudget(100, { key: 50, account: 50, address: 80 });
  const keyed = Array.from({ length: 40 }, (_, i) => takeAll(budget, { key: `${i}`, address: 'one' }));
  const ofAddress = keyed.reduce((sum, count) => sum + count, 0);
  assert.equal(ofAddress, 80);
  assert.equal(budget.obstacle({ key: '0', address: 'two' }, 1)?.kind, 'key');
  assert.equal(budget.obstacle({ key: 'new', address: 'one' }, 1)?.kind, 'address');
  assert.equal(takeAll(budget, { account: 'x', address: 'two' }), 10);
  assert.equal(budget.obstacle({ account: 'x', address: 'three' }, 1)?.kind, 'account');
});

test('without a share set, the total alone decides', () => {
  const budget = new SharedBudget(10, { key: 100 });
  assert.equal(takeAll(budget, { key: 'a' }), 10);
  assert.equal(budget.inUse, 10);
});

test('an IPv4 address counts on its own, an IPv6 address with its network', () => {
  assert.equal(addressBlock('192.0.2.1'), '192.0.2.1');
  assert.equal(addressBlock('2001:db8:1:2::1'), addressBlock('2001:db8:1:2:ffff:ffff:ffff:ffff'));
  assert.notEqual(addressBlock('2001:db8:1:2::1'), addressBlock('2001:db8:1:3::1'));
  assert.equal(addressBlock('::1'), addressBlock('::2'));
  assert.equal(addressBlock('fe80::1:2:3:4'), 'fe80:0:0:0');
});
