// SPDX-License-Identifier: Apache-2.0
//
// A simulation of hosts behind a load balancer. Requests arrive at random moments (a Poisson process), each takes one core
// of its host for its service time, and those of one host are served in the order of their arrival.
import { SeededRandom } from '../../src/evaluation/figures/random.js';
import { MinHeap } from './min-heap.js';

/** How a request gets its host: at random, in turn, or the less busy of two random ones. */
export type Balancing = 'random' | 'turns' | 'two-choices';

export interface FleetOrder {
  readonly hosts: number;
  readonly coresPerHost: number;
  readonly arrivalsPerS: number;
  /** Measured service times; each request draws one. */
  readonly serviceMs: readonly number[];
  readonly balancing: Balancing;
  /** Requests to simulate; the first quarter only fills the queues. */
  readonly requests: number;
  readonly seed: number;
}

export interface FleetResult {
  /** Offered work as a share of all cores; at 1 and above the queues grow without limit. */
  readonly load: number;
  readonly meanWaitMs: number;
  /** From arrival to answer. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
  readonly hostsUsed: number;
}

class Host {
  /** Times at which cores become free. */
  readonly #freeAtMs = new MinHeap();
  readonly #leaveAtMs = new MinHeap();

  constructor(cores: number) {
    for (let core = 0; core < cores; core++) this.#freeAtMs.push(0);
  }

  /** Requests waiting or in service. */
  inHand(nowMs: number): number {
    while (this.#leaveAtMs.min <= nowMs) this.#leaveAtMs.pop();
    return this.#leaveAtMs.size;
  }

  /** @returns when service begins */
  take(nowMs: number, serviceMs: number): number {
    const beginsMs = Math.max(nowMs, this.#freeAtMs.pop());
    this.#freeAtMs.push(beginsMs + serviceMs);
    this.#leaveAtMs.push(beginsMs + serviceMs);
    return beginsMs;
  }
}

function chooseHost(
  hosts: readonly Host[],
  order: FleetOrder,
  random: SeededRandom,
  request: number,
  nowMs: number,
) {
  if (order.balancing === 'turns') return request % hosts.length;
  const first = random.below(hosts.length);
  if (order.balancing === 'random') return first;
  const second = random.below(hosts.length);
  const inHand = (host: number): number => (hosts[host] as Host).inHand(nowMs);
  return inHand(second) < inHand(first) ? second : first;
}

export function simulateFleet(order: FleetOrder): FleetResult {
  const { coresPerHost, arrivalsPerS, serviceMs, requests } = order;
  const random = new SeededRandom(order.seed);
  const hosts = Array.from({ length: order.hosts }, () => new Host(coresPerHost));
  const firstCounted = Math.floor(requests / 4);
  const counted = requests - firstCounted;
  const totalMs = new Float64Array(counted);
  const used = new Set<number>();
  let nowMs = 0;
  let waitMs = 0;
  for (let request = 0; request < requests; request++) {
    nowMs += (-Math.log(1 - random.unit()) * 1000) / arrivalsPerS;
    const index = chooseHost(hosts, order, random, request, nowMs);
    const ownMs = serviceMs[random.below(serviceMs.length)] as number;
    const beginsMs = (hosts[index] as Host).take(nowMs, ownMs);
    used.add(index);
    if (request < firstCounted) continue;
    waitMs += beginsMs - nowMs;
    totalMs[request - firstCounted] = beginsMs - nowMs + ownMs;
  }
  totalMs.sort();
  const at = (share: number): number => totalMs[Math.floor(share * counted)] as number;
  return {
    load: (arrivalsPerS * meanOf(serviceMs)) / 1000 / (order.hosts * coresPerHost),
    meanWaitMs: waitMs / counted,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    p999Ms: at(0.999),
    hostsUsed: used.size,
  };
}

export function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/**
 * The fewest hosts whose 99th percentile stays within the limit.
 * @throws if the limit is below the 99th percentile of the service times alone: then no number of hosts is enough
 */
export function fewestHosts(
  order: Omit<FleetOrder, 'hosts'>,
  p99Ms: number,
): FleetResult & { readonly hosts: number } {
  const work = (order.arrivalsPerS * meanOf(order.serviceMs)) / 1000 / order.coresPerHost;
  const sorted = [...order.serviceMs].sort((a, b) => a - b);
  if (p99Ms < (sorted[Math.floor(0.99 * sorted.length)] as number))
    throw new Error('The limit is below the 99th percentile of the service times.');
  const fits = (hosts: number): boolean => simulateFleet({ ...order, hosts }).p99Ms <= p99Ms;
  // Below the work itself the queues grow without limit, whatever a finite run shows.
  let tooFew = Math.floor(work);
  let enough = tooFew + 1;
  while (!fits(enough)) {
    tooFew = enough;
    enough = Math.ceil(enough * 1.25);
  }
  while (enough - tooFew > 1) {
    const middle = (enough + tooFew) >> 1;
    if (fits(middle)) enough = middle;
    else tooFew = middle;
  }
  return { hosts: enough, ...simulateFleet({ ...order, hosts: enough }) };
}
