// SPDX-License-Identifier: Apache-2.0

/** A filter for address and request: empty fields are left out. */
export const queryOf = <Filter extends Readonly<Record<keyof Filter, string>>>(
  filter: Filter,
): Record<string, string> =>
  Object.fromEntries(Object.entries<string>(filter).filter(([, value]) => value !== ''));
