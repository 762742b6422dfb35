// SPDX-License-Identifier: Apache-2.0

/** 0 to 1 as `12 %`. */
export const percent = (share: number, digits = 0): string => `${(100 * share).toFixed(digits)} %`;

const wholeNumber = new Intl.NumberFormat();

/** A number with the separators of the reader's language. */
export const count = (value: number): string => wholeNumber.format(value);

/** `1 window`, `2 windows`. @param noun whose plural ends in s */
export const inCount = (value: number, noun: string): string =>
  `${count(value)} ${noun}${value === 1 ? '' : 's'}`;
