// SPDX-License-Identifier: Apache-2.0
import { dayOf, daysBefore, isDay } from './days.js';
import { type Measure, measures } from './usage-series.js';

/** The filter of the usage view; all of it is in its address. */
export interface UsageFilter {
  readonly from: string;
  readonly to: string;
  /** Id of the only key; empty for all. */
  readonly key: string;
  /** The only account; empty for all. */
  readonly account: string;
  readonly by: 'key' | 'account';
  readonly measure: Measure;
}

export const DEFAULT_DAYS = 30;
/** Ten years: each day is a point of the plot and a row of its table. */
export const MOST_DAYS = 3653;
/** Earlier ones are mistakes, such as a year that is still being typed. */
export const EARLIEST_DAY = '1970-01-01';

/** The first day of the longest range with this end. */
export const earliestFrom = (to: string): string => daysBefore(to, MOST_DAYS - 1);

const laterOf = (day: string, other: string): string => (day > other ? day : other);

/** The filter in the address, with defaults in place of missing or invalid days, and without too many days for a plot. */
export function filterOf(query: URLSearchParams, now: Date): UsageFilter {
  const wantedTo = query.get('to') ?? '';
  const to = isDay(wantedTo) && wantedTo >= EARLIEST_DAY ? wantedTo : dayOf(now);
  const wantedFrom = query.get('from') ?? '';
  const isRange = isDay(wantedFrom) && wantedFrom <= to;
  const from = isRange ? laterOf(wantedFrom, earliestFrom(to)) : daysBefore(to, DEFAULT_DAYS - 1);
  return {
    from,
    to,
    key: query.get('key') ?? '',
    account: query.get('account') ?? '',
    by: query.get('by') === 'account' ? 'account' : 'key',
    measure: measures.find((measure) => measure === query.get('measure')) ?? 'requests',
  };
}
