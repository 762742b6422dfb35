// SPDX-License-Identifier: Apache-2.0

export function dot(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] as number) * (b[i] as number);
  return sum;
}

/** The vector at length 1; NaN throughout for the zero vector, which has no direction. */
export function normalised(vector: ArrayLike<number>): Float64Array {
  const length = Math.sqrt(dot(vector, vector));
  return Float64Array.from(vector, (x) => x / length);
}
