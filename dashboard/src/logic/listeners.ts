// SPDX-License-Identifier: Apache-2.0

/** Called after changes. */
export class Listeners {
  readonly #all = new Set<() => void>();

  /** @returns a function that ends it */
  add(listener: () => void): () => void {
    this.#all.add(listener);
    return () => this.#all.delete(listener);
  }

  tell(): void {
    for (const listener of this.#all) listener();
  }
}
