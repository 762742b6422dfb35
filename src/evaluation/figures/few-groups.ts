// SPDX-License-Identifier: Apache-2.0

/** A mean over fewer groups than this is not given: one group more or less would change it at will. */
export const MIN_GROUPS = 5;

/**
 * Why so few groups give nothing; null if there are enough.
 * @param wanted that which is not given, such as `a mean`
 */
export const tooFew = (wanted: string, groups: number, what: string): string | null =>
  groups >= MIN_GROUPS ? null : `${wanted} needs at least ${MIN_GROUPS} ${what}; the list has ${groups}`;
