// SPDX-License-Identifier: Apache-2.0

/** Requests of one bucket of times, per step. */
export interface LatencyBucket {
  /** Index of its upper end in the bounds; one more for times longer than all. */
  readonly bucket: number;
  readonly requests: readonly number[];
}

/**
 * The time that this share of the requests stayed below, in ms; undefined without requests. Within a bucket, the logarithms of the
 * times count as evenly spread.
 * @param share 0..1
 * @param counts by the index of the bucket
 */
export function percentileMs(
  boundsMs: readonly number[],
  counts: ReadonlyMap<number, number>,
  share: number,
): number | undefined {
  const buckets = [...counts].filter(([, count]) => count > 0).sort(([a], [b]) => a - b);
  const total = buckets.reduce((sum, [, count]) => sum + count, 0);
  let rest = share * total;
  for (const [bucket, count] of buckets) {
    if (rest > count) {
      rest -= count;
      continue;
    }
    const upper = boundsMs[bucket];
    const lower = boundsMs[bucket - 1];
    // Beyond the last bound, nothing is known but that.
    if (upper === undefined) return boundsMs.at(-1);
    const inside = rest / count;
    return lower === undefined ? upper * inside : lower * (upper / lower) ** inside;
  }
  return undefined;
}

/** Counts by bucket over the steps from `from` until before `to`. */
export function countsBetween(
  buckets: readonly LatencyBucket[],
  from: number,
  to: number,
): ReadonlyMap<number, number> {
  return new Map(
    buckets.map(({ bucket, requests }) => [
      bucket,
      requests.slice(from, to).reduce((sum, count) => sum + count, 0),
    ]),
  );
}
