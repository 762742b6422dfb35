// SPDX-License-Identifier: Apache-2.0

const SQRT_2PI = Math.sqrt(2 * Math.PI);
/** Beyond this many standard deviations the continued fraction is exact to the last digits. */
const FAR = 3;
const TERMS = 60;

/** The share of a standard normal distribution above x: exact to a relative error of 1e-12, also far out. */
export function shareAbove(x: number): number {
  if (x < 0) return 1 - shareAbove(-x);
  const density = Math.exp((-x * x) / 2) / SQRT_2PI;
  if (x < FAR) {
    // The series of the share between 0 and x.
    let term = x;
    let sum = x;
    for (let n = 1; n < TERMS; n++) {
      term *= (x * x) / (2 * n + 1);
      sum += term;
    }
    return 0.5 - density * sum;
  }
  let fraction = x;
  for (let n = TERMS; n > 0; n--) fraction = x + n / fraction;
  return density / fraction;
}

/** The value that a share of `share` exceeds, 0 < share < 1. */
export function exceededBy(share: number): number {
  let [low, high] = [-40, 40];
  for (let i = 0; i < 80; i++) {
    const middle = (low + high) / 2;
    if (shareAbove(middle) > share) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}
