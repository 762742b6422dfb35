// SPDX-License-Identifier: Apache-2.0
import type { ArenaRegion } from '../../analysis/memory/arena.js';
import { UploadArena } from '../../analysis/memory/arena.js';

/** The memory of all files that are analysed at once: bounded, whatever the length of a list. */
export class FileArena {
  readonly #arena: UploadArena;
  /** Files that wait for room, in the order in which they came. */
  readonly #waiting: (() => void)[] = [];

  constructor(totalBytes: number) {
    this.#arena = new UploadArena(totalBytes);
  }

  get buffer(): SharedArrayBuffer {
    return this.#arena.buffer;
  }

  /**
   * Runs `work` with a region of that many bytes, once there is room.
   * @throws RangeError if there never will be
   */
  async use<Result>(
    bytes: number,
    work: (region: ArenaRegion, content: Uint8Array) => Promise<Result>,
  ): Promise<Result> {
    if (bytes > this.#arena.totalBytes) {
      throw new RangeError(`${bytes} bytes exceed the arena's ${this.#arena.totalBytes}.`);
    }
    const region = await this.#reserve(bytes);
    try {
      return await work(region, this.#arena.bytes.subarray(region.offset, region.offset + region.length));
    } finally {
      this.#arena.release(region);
      // All waiters look again: the region may have room for several, and the first may need more.
      for (const wake of this.#waiting.splice(0)) wake();
    }
  }

  async #reserve(bytes: number): Promise<ArenaRegion> {
    for (;;) {
      const region = this.#arena.reserve(bytes);
      if (region !== undefined) return region;
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }
}
