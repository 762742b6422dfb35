// SPDX-License-Identifier: Apache-2.0

const units = {
  bytes: {
    B: 1,
    kB: 1e3,
    KB: 1e3,
    MB: 1e6,
    GB: 1e9,
    TB: 1e12,
    KiB: 2 ** 10,
    MiB: 2 ** 20,
    GiB: 2 ** 30,
    TiB: 2 ** 40,
  },
  ms: { ms: 1, s: 1e3, m: 60e3, h: 3600e3, d: 86_400e3 },
  s: { s: 1, m: 60, h: 3600, d: 86_400 },
  days: { d: 1 },
} as const satisfies Record<string, Readonly<Record<string, number>>>;

const examples = { bytes: '64MiB or 250MB', ms: '500ms, 10s or 2m', s: '90s, 15m or 12h', days: '30d' };

/** A unit whose settings also accept other units: `10s` for a setting in ms. */
export type Unit = keyof typeof units;

export const isUnit = (unit: string | undefined): unit is Unit =>
  unit !== undefined && Object.hasOwn(units, unit);

/** Accepted forms with a unit, for error messages. */
export const exampleOf = (unit: Unit): string => examples[unit];

/** A whole number in the given unit: `10s` is 10,000 in ms. Undefined for any other text. */
export function parseQuantity(text: string, unit: Unit | undefined): number | undefined {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  const [, digits = '', suffix = ''] = /^(\d{1,9}(?:\.\d{1,6})?) ?([A-Za-z]{1,3})$/.exec(text) ?? [];
  if (unit === undefined || !Object.hasOwn(units[unit], suffix)) return undefined;
  const value = Number(digits) * ((units[unit] as Readonly<Record<string, number>>)[suffix] ?? Number.NaN);
  return Number.isSafeInteger(value) ? value : undefined;
}
