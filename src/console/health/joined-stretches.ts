// SPDX-License-Identifier: Apache-2.0
import { type Joining, joined, type Stretch } from './slots.js';

/**
 * The stretches of several processes as one. Processes have slots of the same clock, so that points lie on each other.
 * @param joiningOf how processes are joined, if it differs from slots
 */
export function joinedStretches(
  stretches: readonly Stretch[],
  joiningOf: (name: string, joining: Joining) => Joining,
): Stretch | undefined {
  const [first] = stretches;
  if (first === undefined) return undefined;
  const all = new Map<string, { readonly joining: Joining; readonly values: number[] }>();
  for (const { series } of stretches.filter(({ fromS, stepS }) => isLike(first, fromS, stepS))) {
    for (const [name, joining, values] of series) {
      const known = all.get(name);
      if (known === undefined) all.set(name, { joining, values: [...values] });
      else {
        const across = joiningOf(name, joining);
        for (const [i, value] of values.entries())
          known.values[i] = joined(across, known.values[i] ?? 0, value);
      }
    }
  }
  return { ...first, series: [...all].map(([name, { joining, values }]) => [name, joining, values]) };
}

const isLike = (first: Stretch, fromS: number, stepS: number): boolean =>
  first.fromS === fromS && first.stepS === stepS;
