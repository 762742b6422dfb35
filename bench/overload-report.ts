// SPDX-License-Identifier: Apache-2.0
//
// What the phases of overload.ts come to. The machine's speed drifts: each phase is compared with the maxima right before and
// after it, and phases of one kind alternate with others and are taken together.
import type { KeyResult } from './overload-load.js';
import type { PhaseResult } from './overload-phase.js';

export interface MeasuredPhase {
  readonly result: PhaseResult;
  /** Answers per second at the maxima before and after it. */
  readonly maximaPerS: readonly number[];
}

const round = (number: number): number => Math.round(number * 1000) / 1000;
const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
export const mean = (numbers: readonly number[]): number => sum(numbers) / numbers.length;

function percentilesMs(valuesMs: readonly number[]) {
  if (valuesMs.length === 0) return undefined;
  const sorted = [...valuesMs].sort((a, b) => a - b);
  const at = (share: number): number =>
    Math.round((sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] as number) * 10) / 10;
  return { count: sorted.length, p50: at(0.5), p99: at(0.99), worst: at(1) };
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

/** Phases of one kind, taken together. */
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
