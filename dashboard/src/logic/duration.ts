// SPDX-License-Identifier: Apache-2.0
import { count } from './formats.js';

const units = [
  { name: 'd', lengthS: 86_400 },
  { name: 'h', lengthS: 3600 },
  { name: 'min', lengthS: 60 },
  { name: 's', lengthS: 1 },
] as const;

/** Round lengths of time from a second to 1,000 hours, ascending. */
export const roundLengthsS: readonly number[] = [
  ...[1, 2, 5, 10, 15, 30],
  ...[1, 2, 5, 10, 15, 30].map((minutes) => 60 * minutes),
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].map((hours) => 3600 * hours),
];

/** A length of time in its two largest units, such as `3 d 4 h` or `45 s`. @param largest unit, such as `h` for hours beyond a day */
export function durationInWords(lengthS: number, largest: 'd' | 'h' = 'd'): string {
  const seconds = Math.round(Math.max(0, lengthS));
  const used = units.slice(largest === 'h' ? 1 : 0);
  const at = used.findIndex((unit) => seconds >= unit.lengthS);
  const unit = used[at];
  if (unit === undefined) return '0 s';
  const first = `${count(Math.floor(seconds / unit.lengthS))} ${unit.name}`;
  const next = used[at + 1];
  const rest = next === undefined ? 0 : Math.floor((seconds % unit.lengthS) / next.lengthS);
  return next === undefined || rest === 0 ? first : `${first} ${rest} ${next.name}`;
}
