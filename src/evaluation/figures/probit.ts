// SPDX-License-Identifier: Apache-2.0

/**
 * The quantile of the normal distribution, for the axes of plots: M. Abramowitz and I. Stegun, "Handbook of Mathematical
 * Functions", 1964, formula 26.2.23, with an error below 4.5e-4.
 * @param probability between 0 and 1, neither of them
 */
export function probit(probability: number): number {
  const tail = Math.min(probability, 1 - probability);
  const t = Math.sqrt(-2 * Math.log(tail));
  const above = 2.515517 + 0.802853 * t + 0.010328 * t * t;
  const below = 1 + 1.432788 * t + 0.189269 * t * t + 0.001308 * t * t * t;
  const distance = t - above / below;
  return probability < 0.5 ? -distance : distance;
}
