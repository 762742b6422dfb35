// SPDX-License-Identifier: Apache-2.0

/**
 * Share of wrong verdicts in a class.
 * @param weights how often each sample counts
 * @returns undefined if the class has no weight
 */
export function weightedErrors(
  weights: Float64Array,
  wrong: readonly boolean[],
  isPositive: readonly boolean[],
  ofPositives: boolean,
): number | undefined {
  let all = 0;
  let bad = 0;
  weights.forEach((weight, i) => {
    if (isPositive[i] !== ofPositives) return;
    all += weight;
    if (wrong[i]) bad += weight;
  });
  return all > 0 ? bad / all : undefined;
}
