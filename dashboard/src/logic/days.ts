// SPDX-License-Identifier: Apache-2.0

const DAY_MS = 86_400_000;

/** The UTC day of a moment, such as `2026-11-23`. */
export const dayOf = (moment: Date): string => moment.toISOString().slice(0, 10);

/** Seconds from 1970 to the start of the day. */
export const secondsOf = (day: string): number => Date.parse(`${day}T00:00:00Z`) / 1000;

const dayFormat = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' });

/** The day in the reader's language. */
export const dayInWords = (day: string): string => dayFormat.format(new Date(1000 * secondsOf(day)));

/** Whether there is such a day: Date reads 31 February as one in March. */
export function isDay(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const seconds = secondsOf(text);
  return !Number.isNaN(seconds) && dayOf(new Date(1000 * seconds)) === text;
}

/** `days` days before the day. */
export const daysBefore = (day: string, days: number): string =>
  dayOf(new Date(1000 * secondsOf(day) - days * DAY_MS));

/** All days of the range, both ends included. */
export function daysBetween(from: string, to: string): string[] {
  const days: string[] = [];
  for (let ms = 1000 * secondsOf(from); ms <= 1000 * secondsOf(to); ms += DAY_MS) {
    days.push(dayOf(new Date(ms)));
  }
  return days;
}
