// SPDX-License-Identifier: Apache-2.0
//
// The simulation of docs/scaling.md against exact results of queueing theory.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type FleetOrder, fewestHosts, meanOf, simulateFleet } from '../../bench/scaling/fleet.js';

const SERVICE_MS = 20;
const order: FleetOrder = {
  hosts: 1,
  coresPerHost: 1,
  arrivalsPerS: 35,
  serviceMs: [SERVICE_MS],
  balancing: 'random',
  requests: 400_000,
  seed: 1,
};

/** Nearly exponential service times: the quantiles of that distribution. */
const exponentialMs = Array.from(
  { length: 20_000 },
  (_, i) => -SERVICE_MS * Math.log(1 - (i + 0.5) / 20_000),
);

/** The share of arrivals that wait in an M/M/c queue with this offered work (A. K. Erlang, 1917). */
function erlangC(cores: number, work: number): number {
  let blocked = 1;
  for (let i = 1; i <= cores; i++) blocked = (work * blocked) / (i + work * blocked);
  return blocked / (1 - (work / cores) * (1 - blocked));
}

function assertNear(actual: number, expected: number, share: number): void {
  assert.ok(Math.abs(actual / expected - 1) <= share, `${actual}, expected ${expected}`);
}

test('a limit below the service times themselves is refused', () => {
  assert.throws(() => fewestHosts(order, SERVICE_MS - 1), /below the 99th percentile of the service times/);
});

test('the mean wait for one core and constant service times is that of Pollaczek and Khinchine', () => {
  for (const load of [0.3, 0.7, 0.9]) {
    const { meanWaitMs } = simulateFleet({ ...order, arrivalsPerS: (1000 * load) / SERVICE_MS });
    assertNear(meanWaitMs, (load / (2 * (1 - load))) * SERVICE_MS, 0.05);
  }
});

test('the mean wait for several cores and exponential service times follows from Erlang C', () => {
  for (const cores of [1, 4, 16]) {
    const work = 0.8 * cores;
    const { meanWaitMs, load } = simulateFleet({
      ...order,
      coresPerHost: cores,
      arrivalsPerS: (1000 * work) / SERVICE_MS,
      serviceMs: exponentialMs,
    });
    assertNear(load, 0.8, 0.01);
    assertNear(meanWaitMs, (erlangC(cores, work) / (cores - work)) * meanOf(exponentialMs), 0.08);
  }
});

test('by chance, hosts are as many queues of their own; choice of two shortens the tail', () => {
  const fleet = { ...order, hosts: 20, arrivalsPerS: 20 * 40 };
  const byChance = simulateFleet(fleet);
  const alone = simulateFleet({ ...order, arrivalsPerS: 40 });
  assertNear(byChance.meanWaitMs, alone.meanWaitMs, 0.05);
  const byTurns = simulateFleet({ ...fleet, balancing: 'turns' });
  const ofTwo = simulateFleet({ ...fleet, balancing: 'two-choices' });
  assert.ok(byTurns.p99Ms < byChance.p99Ms);
  assert.ok(ofTwo.p99Ms < byChance.p99Ms / 2, `${ofTwo.p99Ms} of ${byChance.p99Ms} ms`);
  for (const { hostsUsed } of [byChance, byTurns, ofTwo]) assert.equal(hostsUsed, 20);
});

test('the same seed gives the same result, another seed nearly the same', () => {
  const first = simulateFleet(order);
  assert.deepEqual(simulateFleet(order), first);
  const other = simulateFleet({ ...order, seed: 2 });
  assert.notDeepEqual(other, first);
  assertNear(other.p99Ms, first.p99Ms, 0.1);
});

test('the fewest hosts keep the limit, and one fewer does not', () => {
  const wanted = {
    ...order,
    coresPerHost: 4,
    arrivalsPerS: 3000,
    balancing: 'two-choices' as const,
    requests: 50_000,
  };
  const { hosts, p99Ms } = fewestHosts(wanted, 60);
  assert.ok(p99Ms <= 60);
  assert.ok(simulateFleet({ ...wanted, hosts: hosts - 1 }).p99Ms > 60);
  assert.ok(hosts >= (3000 * 0.02) / 4);
});
