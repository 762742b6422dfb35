// SPDX-License-Identifier: Apache-2.0
import type { Value } from './database.js';

/** `$1, $2`, and so on, one for each. @param first number of the first place */
export const placesFor = (values: readonly unknown[], first = 1): string =>
  values.map((_, i) => `$${i + first}`).join(', ');

/** A query's conditions on rows, with their values in their places. */
export class Conditions {
  readonly values: Value[] = [];
  readonly #conditions: string[];

  /** @param always without values */
  constructor(...always: string[]) {
    this.#conditions = always;
  }

  /** @param condition gets the number of the first value's place */
  add(condition: (first: number) => string, ...values: readonly Value[]): void {
    this.#conditions.push(condition(this.values.length + 1));
    this.values.push(...values);
  }

  /** The columns have these values; undefined ones may have any. */
  addEqual(columns: Readonly<Record<string, Value | undefined>>): void {
    for (const [column, value] of Object.entries(columns)) {
      if (value !== undefined) this.add((n) => `${column} = $${n}`, value);
    }
  }

  /** Empty without conditions. */
  get where(): string {
    return this.#conditions.length === 0 ? '' : `WHERE ${this.#conditions.join(' AND ')}`;
  }
}
