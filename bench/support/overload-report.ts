// SPDX-License-Identifier: Apache-2.0
//
// Summarises the phases of overload.ts. The machine's speed drifts: each phase is compared with the maxima right before and
// after it, and phases of one kind alternate with others and are pooled.
import type { KeyResult } from './overload-load.js';
import type { PhaseResult } from './overload-phase.js';

export interface MeasuredPhase {
  readonly result: PhaseResult;
  /** Answers per second in the maximum phases before and after it. */
  readonly maximaPerS: readonly number[];
}

export const GREEDY = 'greedy';

const round = (number: number): number => Math.round(number * 1000) / 1000;
const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
export const mean = (numbers: readonly number[]): number => sum(numbers) / numbers.length;

/** Standard deviations that hold 95 % of a normal distribution. */
const Z95 = 1.96;

function percentilesMs(valuesMs: readonly number[]) {
  const count = valuesMs.length;
  if (count === 0) return undefined;
  const sorted = [...valuesMs].sort((a, b) => a - b);
  const atRank = (rank: number): number =>
    Math.round((sorted[Math.min(count - 1, Math.max(0, Math.floor(rank)))] as number) * 10) / 10;
  const at = (share: number): number => atRank(count * share);
  // The number of values below the true percentile is binomial.
  const spread = Z95 * Math.sqrt(count * 0.99 * 0.01);
  const p99Interval = [atRank(count * 0.99 - spread), atRank(count * 0.99 + spread)];
  return { count, p50: at(0.5), p99: at(0.99), p99Interval, worst: at(1) };
}

export const goodputPerS = ({ keys, durationS }: PhaseResult): number =>
  sum(keys.map(({ acceptedInTime }) => acceptedInTime)) / durationS;

function describeKey(parts: readonly KeyResult[]) {
  const statuses: Record<string, number> = {};
  for (const part of parts) {
    for (const [status, count] of Object.entries(part.statuses)) {
      statuses[status] = (statuses[status] ?? 0) + count;
    }
  }
  const retries = parts.flatMap(({ retryAfterS }) => retryAfterS ?? []);
  return {
    name: parts[0]?.name as string,
    sent: sum(parts.map(({ sent }) => sent)),
    statuses,
    withoutRetryAfter: sum(parts.map(({ withoutRetryAfter }) => withoutRetryAfter)),
    ...(retries.length > 0 && {
      retryAfterS: {
        min: Math.min(...retries.map(({ min }) => min)),
        max: Math.max(...retries.map(({ max }) => max)),
      },
    }),
    acceptedMs: percentilesMs(parts.flatMap(({ acceptedMs }) => acceptedMs)),
    refusedMs: percentilesMs(parts.flatMap(({ refusedMs }) => refusedMs)),
  };
}

/** All keys but the greedy one together: each alone has too few requests for a 99th percentile. */
function politeMs(results: readonly PhaseResult[]) {
  const keys = results.flatMap((result) => result.keys.filter(({ name }) => name !== GREEDY));
  return percentilesMs(keys.flatMap(({ acceptedMs }) => acceptedMs));
}

/** Pools phases of one kind. */
export function describePhases(phases: readonly MeasuredPhase[]) {
  const results = phases.map(({ result }) => result);
  const seconds = sum(results.map(({ durationS }) => durationS));
  const total = (read: (result: PhaseResult) => number): number => sum(results.map(read));
  const ratios = phases.map(({ result, maximaPerS }) => goodputPerS(result) / mean(maximaPerS));
  const names = results[0]?.keys.map(({ name }) => name) ?? [];
  return {
    goodputPerS: results.map((result) => round(goodputPerS(result))),
    goodputOfMaximumInEach: ratios.map(round),
    goodputOfMaximum: round(mean(ratios)),
    keys: names
      .map((name) => describeKey(results.flatMap(({ keys }) => keys.find((key) => key.name === name) ?? [])))
      .filter(({ sent }) => sent > 0),
    politeMs: politeMs(results),
    probesMs: percentilesMs(results.flatMap(({ probesMs }) => probesMs)),
    broken: total(({ broken }) => broken),
    unsent: total(({ unsent }) => unsent),
    slowOpened: total(({ slowOpened }) => slowOpened),
    slowAnswered408: total(({ slowAnswered408 }) => slowAnswered408),
    aborts: total(({ aborts }) => aborts),
    cores: {
      server: round(total(({ serverCpuS }) => serverCpuS) / seconds),
      load: round(total(({ cpuS }) => cpuS) / seconds),
      others: round(total(({ othersCpuS }) => othersCpuS) / seconds),
    },
    peakMiB: Math.max(...results.map(({ peakMiB }) => peakMiB)),
  };
}
