// SPDX-License-Identifier: Apache-2.0

/**
 * The quantile of the normal distribution, to 4.5e-4 (M. Abramowitz and I. Stegun, "Handbook of Mathematical Functions",
 * 26.2.23): enough for places on a screen.
 * @param share above 0, below 1
 */
export function normalQuantile(share: number): number {
  const tail = Math.min(share, 1 - share);
  const t = Math.sqrt(-2 * Math.log(tail));
  const numerator = 2.515517 + t * (0.802853 + t * 0.010328);
  const denominator = 1 + t * (1.432788 + t * (0.189269 + t * 0.001308));
  const distance = t - numerator / denominator;
  return share < 0.5 ? -distance : distance;
}
