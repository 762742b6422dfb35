// SPDX-License-Identifier: Apache-2.0
import type { HealthHistory } from '../contract/health.js';
import { gaugeJoinings, raisedGauges } from '../health/gauges.js';
import { latencyBoundsMs } from '../health/latency-buckets.js';
import { PRESENT, type Stretch } from '../health/slots.js';

type Counts = readonly number[];

/**
 * @param stretch of all processes; its times are those of the monotonic clock
 * @param offsetS seconds since 1970 at its second 0
 */
export function historyAnswer(stretch: Stretch, offsetS: number, processes: number): HealthHistory {
  const { fromS, stepS, points, series } = stretch;
  const zeros = new Array<number>(points).fill(0);
  const byPlace = new Map<string, Map<string, Counts>>();
  for (const [name, , values] of series) {
    const slash = name.indexOf('/');
    const [place, rest] = slash < 0 ? ['', name] : [name.slice(0, slash), name.slice(slash + 1)];
    byPlace.set(place, (byPlace.get(place) ?? new Map()).set(rest, values));
  }
  const at = (place: string): ReadonlyMap<string, Counts> => byPlace.get(place) ?? new Map();
  const recorded = at('').get(PRESENT) ?? zeros;
  const latencies = (kind: string) =>
    [...at('latency')]
      .filter(([name]) => name.startsWith(`${kind}/`))
      .map(([name, requests]) => ({ bucket: Number(name.slice(kind.length + 1)), requests }))
      .sort((a, b) => a.bucket - b.bucket);
  const gauges = Object.keys(gaugeJoinings).map((name) => {
    const values = at('gauges').get(name) ?? zeros;
    const least = raisedGauges.has(name) ? 1 : 0;
    return [name, values.map((value, i) => (recorded[i] === 0 || value < least ? null : value - least))];
  });
  return {
    from: fromS + offsetS,
    step_s: stepS,
    points,
    processes,
    recorded_s: recorded,
    requests: nested(at('requests')),
    refusals: Object.fromEntries(at('refusals')),
    latency: { bounds_ms: latencyBoundsMs, analysis: latencies('analysis'), other: latencies('other') },
    waits: {
      requests: at('waits').get('requests') ?? zeros,
      total_ms: at('waits').get('ms') ?? zeros,
    },
    windows: Object.fromEntries(at('windows')),
    gauges: Object.fromEntries(gauges),
  };
}

/** From `detection/ok` to `{ detection: { ok } }`. */
function nested(series: ReadonlyMap<string, Counts>): Record<string, Record<string, Counts>> {
  const groups: Record<string, Record<string, Counts>> = {};
  for (const [name, counts] of series) {
    const [group = '', outcome = ''] = name.split('/');
    const own = groups[group] ?? {};
    groups[group] = own;
    own[outcome] = counts;
  }
  return groups;
}
