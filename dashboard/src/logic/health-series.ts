// SPDX-License-Identifier: Apache-2.0
//
// From the server's history to the values of its plots.
import type { HealthHistory } from '../../../client/src/index.js';
import { countsBetween, percentileMs } from './percentiles.js';

export interface NamedValues {
  readonly name: string;
  /** One per step; null if the server recorded nothing. */
  readonly values: readonly (number | null)[];
}

export const outcomes = ['ok', 'client_error', 'limited', 'failed', 'gone'] as const;
export type Outcome = (typeof outcomes)[number];

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** Begins of the steps, in seconds since 1970. */
export const timesOf = ({ from, step_s, points }: HealthHistory): readonly number[] =>
  Array.from({ length: points }, (_, i) => from + i * step_s);

/** Null if nothing is known. */
function known(
  { recorded_s }: HealthHistory,
  values: readonly number[] | undefined,
  scale: (value: number, step: number) => number,
): readonly (number | null)[] {
  return recorded_s.map((recorded, i) => (recorded === 0 ? null : scale(values?.[i] ?? 0, i)));
}

/** Seconds of a step that one process recorded: the last step has just begun. */
const recordedS = ({ recorded_s, processes }: HealthHistory, step: number): number =>
  Math.max(1, (recorded_s[step] ?? 0) / Math.max(1, processes));

const perSecond = (history: HealthHistory, values: readonly number[] | undefined) =>
  known(history, values, (value, step) => value / recordedS(history, step));

/** Requests by outcome, of all subjects except the dashboard and probes. */
export function requestCounts(history: HealthHistory): Readonly<Record<Outcome, readonly number[]>> {
  const subjects = Object.entries(history.requests).filter(
    ([subject]) => subject !== 'admin' && subject !== 'operation',
  );
  const countsOf = (outcome: Outcome): readonly number[] =>
    Array.from({ length: history.points }, (_, i) =>
      sum(subjects.map(([, byOutcome]) => byOutcome[outcome]?.[i] ?? 0)),
    );
  return {
    ok: countsOf('ok'),
    client_error: countsOf('client_error'),
    limited: countsOf('limited'),
    failed: countsOf('failed'),
    gone: countsOf('gone'),
  };
}

/** Requests per second; outcomes that never happened are left out, but for the good one. */
export function requestRates(
  history: HealthHistory,
  names: Readonly<Record<Outcome, string>>,
): NamedValues[] {
  const counts = requestCounts(history);
  return outcomes
    .filter((outcome) => outcome === 'ok' || sum(counts[outcome]) > 0)
    .map((outcome) => ({ name: names[outcome], values: perSecond(history, counts[outcome]) }));
}

export const shownPercentiles = [0.5, 0.95, 0.99] as const;

/** Times of analyses in ms; null in steps without one. */
export function latencySeries(history: HealthHistory): NamedValues[] {
  const { analysis, bounds_ms } = history.latency;
  const counts = Array.from({ length: history.points }, (_, i) => countsBetween(analysis, i, i + 1));
  return shownPercentiles.map((share) => ({
    name: `p${100 * share}`,
    values: counts.map((inStep) => percentileMs(bounds_ms, inStep, share) ?? null),
  }));
}

/** The same over the whole stretch; undefined without analyses. */
export function latencyOverall(history: HealthHistory, share: number): number | undefined {
  const { analysis, bounds_ms } = history.latency;
  return percentileMs(bounds_ms, countsBetween(analysis, 0, history.points), share);
}

export const windowRates = (history: HealthHistory): NamedValues[] =>
  Object.entries(history.windows).map(([name, counts]) => ({ name, values: perSecond(history, counts) }));

/** Milliseconds that analyses waited for a thread, on average; null in steps without one. */
export const meanWaits = ({ waits }: HealthHistory): readonly (number | null)[] =>
  waits.requests.map((requests, i) => (requests === 0 ? null : (waits.total_ms[i] ?? 0) / requests));

/** @param scale of the values, such as 1024 from KiB to bytes */
export const gauge = (history: HealthHistory, name: string, scale = 1): readonly (number | null)[] =>
  (history.gauges[name] ?? history.recorded_s.map(() => null)).map((value) =>
    value === null ? null : value * scale,
  );

/** The largest value; undefined if nothing is known. */
export function largest(values: readonly (number | null)[]): number | undefined {
  const numbers = values.filter((value) => value !== null);
  return numbers.length === 0 ? undefined : numbers.reduce((most, value) => Math.max(most, value));
}

/** The last value that is known. */
export const latest = (values: readonly (number | null)[]): number | undefined =>
  values.findLast((value) => value !== null) ?? undefined;

/** How often each error was answered, the most frequent first. */
export const refusalTotals = ({
  refusals,
}: HealthHistory): readonly (readonly [key: string, times: number])[] =>
  Object.entries(refusals)
    .map(([key, counts]) => [key, sum(counts)] as const)
    .sort(([, a], [, b]) => b - a);
