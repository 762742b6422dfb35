// SPDX-License-Identifier: Apache-2.0
import { metric, usageOf } from '../../../bench/support/process-watch.js';
import { type Point, slopeOf } from '../../../bench/support/slope.js';

/** Values sampled at intervals, in the order of `sampleNames`. */
export type Sample = readonly number[];
export const sampleNames = [
  'seconds',
  'residentMiB',
  'heapMiB',
  'arenaUsedMiB',
  'openFiles',
  'threads',
  'modelSets',
  'p50Ms',
  'p99Ms',
] as const;
type Name = (typeof sampleNames)[number];

const mebibytes = (bytes: number | undefined): number => Number(((bytes ?? 0) / 2 ** 20).toFixed(1));

/** The usage of the server and the latencies since the last sample. */
export async function takeSample(
  seconds: number,
  server: { port: number; pid: number },
  latenciesMs: readonly number[],
): Promise<Sample> {
  const { residentMiB, openFiles, threads } = usageOf(server.pid);
  const { port } = server;
  return [
    Math.round(seconds),
    Number(residentMiB.toFixed(1)),
    mebibytes(await metric(port, 'nodejs_heap_size_used_bytes')),
    mebibytes(await metric(port, 'veravox_upload_arena_used_bytes')),
    openFiles,
    threads,
    (await metric(port, 'veravox_model_sets')) ?? 0,
    Math.round(quantile(latenciesMs, 0.5)),
    Math.round(quantile(latenciesMs, 0.99)),
  ];
}

export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
}

export const column = (samples: readonly Sample[], name: Name): number[] =>
  samples.map((sample) => sample[sampleNames.indexOf(name)] as number);

/** Growth per hour, with its 95 % interval. */
export function growthPerHour(samples: readonly Sample[], name: Name, random: () => number) {
  const hours = column(samples, 'seconds').map((seconds) => seconds / 3600);
  const points: Point[] = column(samples, name).map((y, i) => ({ x: hours[i] as number, y }));
  // Blocks of three minutes, at a sample per ten seconds: how long a single event shows in memory.
  const { perX, low, high } = slopeOf(points, 18, random);
  const rounded = (value: number): number => Number(value.toFixed(2));
  return { value: rounded(perX), low: rounded(low), high: rounded(high) };
}
