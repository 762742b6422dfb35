// SPDX-License-Identifier: Apache-2.0

/** Two per doubling, from 1 ms to 65.5 s: the ends of a bucket are 41 % apart, whatever the times are. */
const PER_DOUBLING = 2;
const DOUBLINGS = 16;

/** The upper ends; one more bucket takes longer times. */
export const latencyBoundsMs: readonly number[] = Array.from(
  { length: PER_DOUBLING * DOUBLINGS + 1 },
  (_, i) => 2 ** (i / PER_DOUBLING),
);

/** Keeps a bound in its bucket, whatever its logarithm is rounded to. */
const ROUNDING = 1e-9;

/** The first bucket whose upper end is not below this. */
export function latencyBucketOf(durationMs: number): number {
  if (!(durationMs > 1)) return 0;
  return Math.min(latencyBoundsMs.length, Math.ceil(PER_DOUBLING * Math.log2(durationMs) - ROUNDING));
}
