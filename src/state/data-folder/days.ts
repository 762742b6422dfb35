// SPDX-License-Identifier: Apache-2.0

const MS_PER_DAY = 86_400_000;
/** Most requests are of the same day as the one before. */
let latest = { day: Number.NaN, name: '' };

/** The UTC day as files are named by it: 2026-11-21. */
export function dayOf(time: Date): string {
  const day = Math.floor(time.getTime() / MS_PER_DAY);
  if (day !== latest.day) latest = { day, name: time.toISOString().slice(0, 10) };
  return latest.name;
}

/** The day in a file's name; undefined if the file is not one of ours. */
export const dayOfFile = (name: string): string | undefined => /^\d{4}-\d{2}-\d{2}(?=\.)/.exec(name)?.[0];

/** Whether this is a day that exists: Date reads 31 February as a day in March. */
export function isDay(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const time = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(time.getTime()) && time.toISOString().startsWith(text);
}

/** @param day in the form of `dayOf` */
export const daysBefore = (day: string, days: number): string =>
  dayOf(new Date(Date.parse(`${day}T00:00:00Z`) - days * MS_PER_DAY));
