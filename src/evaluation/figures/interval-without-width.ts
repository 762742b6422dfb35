// SPDX-License-Identifier: Apache-2.0
//
// If drawing again changes nothing, such as without any error, a bootstrap interval has no width, as if the figure were
// certain. Then the Wilson interval takes its place, with units as samples: the differences between clips of one unit are
// unknown.
import { type Interval, wilsonInterval } from '../../base/proportion.js';
import type { ErrorCosts } from './figures.js';

/** The number of speakers, systems or sources in each class; at least one. */
export interface UnitCounts {
  readonly positive: number;
  readonly negative: number;
}

/** Rounding of weighted sums. */
const NO_WIDTH = 1e-9;

const hasWidth = ([low, high]: Interval): boolean => high - low > NO_WIDTH;

/** @param units that the share is of */
export const shareInterval = (share: number, drawn: Interval, units: number): Interval =>
  hasWidth(drawn) ? drawn : wilsonInterval(share * units, units);

/** Of a rate that errors of either class make worse. */
export function eerInterval(rate: number, drawn: Interval, { positive, negative }: UnitCounts): Interval {
  if (hasWidth(drawn)) return drawn;
  const ofPositive = wilsonInterval(rate * positive, positive);
  const ofNegative = wilsonInterval(rate * negative, negative);
  return [Math.min(ofPositive[0], ofNegative[0]), Math.max(ofPositive[1], ofNegative[1])];
}

/** Of a share of pairs, one of each class: as many are independent as the smaller class has units. */
export const pairsInterval = (share: number, drawn: Interval, units: UnitCounts): Interval =>
  shareInterval(share, drawn, Math.min(units.positive, units.negative));

/** Of a cost, 0..1: at most both error rates may be as high as their intervals reach. */
export function costInterval(
  cost: number,
  drawn: Interval,
  costs: ErrorCosts,
  { positive, negative }: UnitCounts,
): Interval {
  if (hasWidth(drawn) || cost > 0) return drawn;
  const [, falsePositive] = wilsonInterval(0, negative);
  const [, falseNegative] = wilsonInterval(0, positive);
  const highest = costs.falsePositive * falsePositive + costs.falseNegative * falseNegative;
  return [0, Math.min(1, highest / Math.min(costs.falsePositive, costs.falseNegative))];
}

/** Of a difference between two models on the same samples, -1..1: in none of this many units they may differ by chance. */
export function differenceInterval(difference: number, drawn: Interval, units: number): Interval {
  if (hasWidth(drawn)) return drawn;
  const [, half] = wilsonInterval(0, units);
  return [Math.max(-1, difference - half), Math.min(1, difference + half)];
}
