// SPDX-License-Identifier: Apache-2.0
import { dayOf, isDay } from '../state/data-folder/days.js';

const DAY_MS = 86_400_000;

const named: ReadonlyMap<string, number> = new Map([
  ['today', 0],
  ['yesterday', 1],
]);

export const DAY_EXPECTED = '2026-11-01, today, yesterday, or 30d for 30 days ago';

/** A UTC day in the form 2026-11-01; undefined if the text is not a day. */
export function dayIn(text: string, now: Date): string | undefined {
  const daysAgo = named.get(text) ?? Number(/^(\d{1,5})d$/.exec(text)?.[1] ?? Number.NaN);
  if (!Number.isNaN(daysAgo)) return dayOf(new Date(now.getTime() - daysAgo * DAY_MS));
  return isDay(text) ? text : undefined;
}
