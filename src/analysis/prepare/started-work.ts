// SPDX-License-Identifier: Apache-2.0
import { Counts } from '../../base/counts.js';

/**
 * Counts the files of each owner between the start of their preparation and their result. Otherwise the prepared inputs of a
 * greedy owner would fill the room in front of the scoring threads, and its next files would hold the prepare threads
 * until there is room again: a new request would wait for both.
 */
export class StartedWork {
  readonly #maxPerOwner: number;
  readonly #started = new Counts();

  constructor(maxPerOwner: number) {
    this.#maxPerOwner = maxPerOwner;
  }

  hasRoom(owner: string): boolean {
    return this.#started.of(owner) < this.#maxPerOwner;
  }

  begin(owner: string): void {
    this.#started.change(owner, 1);
  }

  end(owner: string): void {
    this.#started.change(owner, -1);
  }
}
