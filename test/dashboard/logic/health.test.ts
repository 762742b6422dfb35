// SPDX-License-Identifier: Apache-2.0
//
// Values that the health view computes from the server's answers.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HealthHistory } from '../../../client/src/index.js';
import { driftBars } from '../../../dashboard/src/logic/drift-bars.js';
import { byThreshold, nearest, ratesAt } from '../../../dashboard/src/logic/error-rates.js';
import {
  gauge,
  largest,
  latencyOverall,
  latencySeries,
  meanWaits,
  refusalTotals,
  requestRates,
  timesOf,
  windowRates,
} from '../../../dashboard/src/logic/health-series.js';
import { normalQuantile } from '../../../dashboard/src/logic/normal-quantile.js';
import { percentileMs } from '../../../dashboard/src/logic/percentiles.js';
import { logitEdges } from '../../../src/console/drift/score-bins.js';
import { latencyBoundsMs, latencyBucketOf } from '../../../src/console/health/latency-buckets.js';
import { probit } from '../../../src/evaluation/figures/probit.js';

const names = { ok: 'ok', client_error: 'faulty', limited: 'limited', failed: 'failed', gone: 'gone' };

const history: HealthHistory = {
  from: 1000,
  step_s: 10,
  points: 4,
  processes: 2,
  // Two processes: the second step is only half there, the third missing, the fourth just begun.
  recorded_s: [20, 10, 0, 4],
  requests: {
    detection: { ok: [20, 5, 0, 2], limited: [0, 10, 0, 0] },
    jobs: { ok: [10, 0, 0, 0] },
    operation: { ok: [999, 999, 0, 999] },
    admin: { ok: [999, 0, 0, 0] },
  },
  refusals: { RATE_LIMITED: [0, 1, 0, 0], OVERLOADED: [0, 9, 0, 0] },
  latency: {
    bounds_ms: [1, 2, 4, 8],
    analysis: [
      { bucket: 1, requests: [2, 0, 0, 0] },
      { bucket: 3, requests: [2, 0, 0, 1] },
    ],
    other: [],
  },
  waits: { requests: [4, 0, 0, 1], total_ms: [10, 0, 0, 3] },
  windows: { m: [40, 5, 0, 4] },
  gauges: { rss_kib: [7, 9, null, 8] },
};

test('rates are per second of what was recorded, and nothing where nothing was', () => {
  assert.deepEqual(timesOf(history), [1000, 1010, 1020, 1030]);
  // Without probes, the dashboard's own requests, and outcomes that never happened.
  assert.deepEqual(requestRates(history, names), [
    { name: 'ok', values: [3, 1, null, 1] },
    { name: 'limited', values: [0, 2, null, 0] },
  ]);
  assert.deepEqual(windowRates(history), [{ name: 'm', values: [4, 1, null, 2] }]);
  assert.deepEqual(meanWaits(history), [2.5, null, null, 3]);
  assert.deepEqual(gauge(history, 'rss_kib', 2), [14, 18, null, 16]);
  assert.deepEqual(gauge(history, 'unknown'), [null, null, null, null]);
  assert.deepEqual([largest(gauge(history, 'rss_kib')), largest([null])], [9, undefined]);
  assert.deepEqual(refusalTotals(history), [
    ['OVERLOADED', 9],
    ['RATE_LIMITED', 1],
  ]);
});

test('percentiles come from the buckets, by step and over all of them', () => {
  const [median] = latencySeries(history);
  assert.deepEqual(median?.values.slice(1), [null, null, 4 * 2 ** 0.5]);
  assert.equal(median?.values[0], 2);
  assert.equal(latencyOverall(history, 1), 8);
  assert.equal(latencyOverall({ ...history, latency: { ...history.latency, analysis: [] } }, 0.5), undefined);
});

test('percentiles of many times are less than a bucket off', () => {
  let state = 5;
  const times = Array.from({ length: 5000 }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return 1.2 * Math.exp(6 * (state / 2 ** 32) ** 2);
  });
  const counts = new Map<number, number>();
  for (const time of times) {
    const bucket = latencyBucketOf(time);
    counts.set(bucket, (counts.get(bucket) ?? 0) + 1);
  }
  const sorted = times.toSorted((a, b) => a - b);
  for (const share of [0.01, 0.5, 0.9, 0.95, 0.99, 0.999]) {
    const exact = sorted[Math.ceil(share * sorted.length) - 1] as number;
    const found = percentileMs(latencyBoundsMs, counts, share) ?? 0;
    assert.ok(Math.abs(Math.log2(found / exact)) <= 0.5, `${share}: ${found}, exactly ${exact}`);
  }
  // Longer than the last bound: a lower limit.
  assert.equal(percentileMs([1, 2], new Map([[2, 3]]), 0.5), 2);
});

test('error rates lie on the line between measured thresholds, and end with them', () => {
  const points = byThreshold([
    { threshold: 0.8, fpr: 0.1, fnr: 0.5 },
    { threshold: null, fpr: 0.9, fnr: 0.9 },
    { threshold: 0.4, fpr: 0.5, fnr: 0.1 },
  ]);
  assert.deepEqual(ratesAt(points, 0.4), { threshold: 0.4, fpr: 0.5, fnr: 0.1 });
  const middle = ratesAt(points, 0.6);
  assert.ok(middle && Math.abs(middle.fpr - 0.3) < 1e-12 && Math.abs(middle.fnr - 0.3) < 1e-12);
  assert.deepEqual(ratesAt(points, 0.8), points[1]);
  assert.deepEqual([ratesAt(points, 0.39), ratesAt(points, 0.81)], [undefined, undefined]);
  assert.equal(ratesAt([], 0.5), undefined);
  assert.equal(nearest(points, 0.59)?.threshold, 0.4);
  assert.equal(nearest([], 0.5), undefined);
});

test('places on the axes of a DET plot are those of the normal distribution', () => {
  for (let share = 0.0005; share < 1; share += 0.0005) {
    assert.ok(Math.abs(normalQuantile(share) - probit(share)) < 5e-4, String(share));
  }
});

test('bars name their scores and add up to everything', () => {
  const counts = Array.from({ length: logitEdges.length + 1 }, (_, i) => i);
  const bars = driftBars(logitEdges, counts, counts.toReversed());
  assert.deepEqual(
    [bars[0]?.scores, bars[8]?.scores, bars.at(-1)?.scores],
    ['below 0.00034', '0.27 to 0.50', '0.99966 and more'],
  );
  assert.equal(new Set(bars.map(({ scores }) => scores)).size, bars.length);
  const sum = (shares: readonly number[]): number => shares.reduce((total, share) => total + share, 0);
  assert.ok(Math.abs(sum(bars.map(({ reference }) => reference)) - 1) < 1e-12);
  assert.ok(Math.abs(sum(bars.map(({ current }) => current)) - 1) < 1e-12);
  assert.deepEqual(
    driftBars(logitEdges, [], []).map(({ reference, current }) => reference + current),
    counts.map(() => 0),
  );
});
