// SPDX-License-Identifier: Apache-2.0
import { type Interval, wilsonInterval } from '../../base/proportion.js';
import type { Share } from './report.js';

/** Six decimals, as scores have. */
export const rounded = (value: number): number => Math.round(value * 1e6) / 1e6;

export const roundedInterval = ([low, high]: Interval): Interval => [rounded(low), rounded(high)];

/** @param of at least 1 */
export function shareOf(count: number, of: number): Share {
  return {
    count,
    of,
    value: rounded(count / of),
    interval_95: roundedInterval(wilsonInterval(count, of)),
  };
}
