// SPDX-License-Identifier: Apache-2.0
import type { Interval } from '../../base/proportion.js';
import { groupedBy } from './grouped.js';
import { SeededRandom } from './random.js';

export interface BootstrapSettings {
  readonly rounds: number;
  readonly seed: number;
}

export const defaultBootstrap: BootstrapSettings = { rounds: 1000, seed: 1 };

/**
 * 95 % intervals by drawing whole units again, with replacement: samples of one unit, such as the clips of one generator
 * or of one speaker, are not independent of each other. As many units are drawn of each class as it has.
 *
 * @param units the unit of each sample; a unit in both classes counts as two
 * @param figures of the samples under weights, which say how often a sample was drawn; may be undefined
 * @returns an interval per figure; undefined if a figure was undefined in every round
 */
export function bootstrapIntervals<Name extends string>(
  units: readonly string[],
  isPositive: readonly boolean[],
  figures: (weights: Float64Array) => Readonly<Record<Name, number | undefined>>,
  { rounds, seed }: BootstrapSettings = defaultBootstrap,
): Partial<Record<Name, Interval>> {
  const classes = [false, true].map((positive) => {
    const own = isPositive.flatMap((is, i) => (is === positive ? [i] : []));
    return [...groupedBy(own, (i) => units[i]).values()];
  });
  const random = new SeededRandom(seed);
  const values = new Map<Name, number[]>();
  const weights = new Float64Array(units.length);
  for (let round = 0; round < rounds; round++) {
    weights.fill(0);
    for (const members of classes) {
      for (let draw = 0; draw < members.length; draw++) {
        for (const i of members[random.below(members.length)] as number[]) {
          weights[i] = (weights[i] as number) + 1;
        }
      }
    }
    for (const [name, value] of Object.entries(figures(weights)) as [Name, number | undefined][]) {
      if (value === undefined) continue;
      const known = values.get(name);
      if (known) known.push(value);
      else values.set(name, [value]);
    }
  }
  const intervals: Partial<Record<Name, Interval>> = {};
  for (const [name, drawn] of values) {
    drawn.sort((a, b) => a - b);
    intervals[name] = [quantile(drawn, 0.025), quantile(drawn, 0.975)];
  }
  return intervals;
}

/** Linear between neighbours, as NumPy's default. */
function quantile(rising: readonly number[], share: number): number {
  const position = share * (rising.length - 1);
  const below = Math.floor(position);
  const low = rising[below] as number;
  const high = rising[Math.min(below + 1, rising.length - 1)] as number;
  return low + (position - below) * (high - low);
}
