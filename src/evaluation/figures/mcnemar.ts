// SPDX-License-Identifier: Apache-2.0

/**
 * Exact two-sided p-value of Q. McNemar, "Note on the sampling error of the difference between correlated proportions or
 * percentages", 1947: how probable at least so uneven a split is if both models err equally often. Takes samples for
 * independent.
 * @param onlyFirst samples on which only the first model is wrong
 * @param onlySecond samples on which only the second one is
 */
export function mcnemarP(onlyFirst: number, onlySecond: number): number {
  const all = onlyFirst + onlySecond;
  const fewer = Math.min(onlyFirst, onlySecond);
  // Terms of the binomial distribution in logarithms: 2^-all is 0 from 1075 on.
  let logTerm = -all * Math.LN2;
  let tail = 0;
  for (let k = 0; k <= fewer; k++) {
    tail += Math.exp(logTerm);
    logTerm += Math.log((all - k) / (k + 1));
  }
  return Math.min(1, 2 * tail);
}
