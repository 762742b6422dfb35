// SPDX-License-Identifier: Apache-2.0

export type Interval = readonly [low: number, high: number];

/** The least of the values that this share of them does not exceed; undefined without values. @param rising sorted */
export const percentile = (rising: readonly number[], share: number): number | undefined =>
  rising[Math.ceil(share * rising.length) - 1];

/** The 97.5 % quantile of the normal distribution. */
const Z_95 = 1.959963984540054;

/**
 * The 95 % interval of a share, after E. B. Wilson, "Probable Inference, the Law of Succession, and Statistical Inference",
 * 1927: sensible also for few samples and for none or all of them. Takes samples for independent.
 * @returns [0, 1] if there is no sample
 */
export function wilsonInterval(successes: number, samples: number): Interval {
  if (samples === 0) return [0, 1];
  const share = successes / samples;
  const z2 = Z_95 * Z_95;
  const centre = share + z2 / (2 * samples);
  const half = Z_95 * Math.sqrt((share * (1 - share)) / samples + z2 / (4 * samples * samples));
  const scale = 1 + z2 / samples;
  // Rounding must not leave the impossible: with no success the lower bound is exactly 0.
  const low = successes === 0 ? 0 : (centre - half) / scale;
  const high = successes === samples ? 1 : (centre + half) / scale;
  return [low, high];
}

/** Samples at least, so that none of them judged wrongly puts the upper bound of the 95 % interval at `rate` or below. */
export function samplesToShow(rate: number): number {
  return Math.ceil((Z_95 * Z_95 * (1 - rate)) / rate);
}
