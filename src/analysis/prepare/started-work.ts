// SPDX-License-Identifier: Apache-2.0

/**
 * Counts what each owner has under way between the begin of its preparation and its result. Prepared inputs of a greedy
 * owner would otherwise fill the room in front of the scoring threads, and its next ones hold the prepare threads until
 * there is room again: whoever comes then would wait for both.
 */
export class StartedWork {
  readonly #maxPerOwner: number;
  readonly #started = new Map<string, number>();

  constructor(maxPerOwner: number) {
    this.#maxPerOwner = maxPerOwner;
  }

  hasRoom(owner: string): boolean {
    return (this.#started.get(owner) ?? 0) < this.#maxPerOwner;
  }

  begin(owner: string): void {
    this.#started.set(owner, (this.#started.get(owner) ?? 0) + 1);
  }

  end(owner: string): void {
    const left = (this.#started.get(owner) ?? 0) - 1;
    if (left > 0) this.#started.set(owner, left);
    else this.#started.delete(owner);
  }
}
