// SPDX-License-Identifier: Apache-2.0

/** A number for each name, 0 at first. Names at 0 take no memory. */
export class Counts {
  readonly #counts = new Map<string, number>();

  of(name: string): number {
    return this.#counts.get(name) ?? 0;
  }

  /** Returns the new number. */
  change(name: string, by: number): number {
    const next = this.of(name) + by;
    if (next === 0) this.#counts.delete(name);
    else this.#counts.set(name, next);
    return next;
  }

  /** Names that are not at 0. */
  get size(): number {
    return this.#counts.size;
  }
}
