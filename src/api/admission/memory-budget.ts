// SPDX-License-Identifier: Apache-2.0
import { ServiceError } from '../../base/errors/service-error.js';
import { type Holder, SharedBudget, type SharePercents } from './shared-budget.js';

/**
 * The memory that clients can make the server keep: bytes of the upload arena, and bytes elsewhere that are only counted.
 * One key or address never holds more than its share of both together.
 */
export class MemoryBudget {
  readonly totalBytes: number;
  readonly #shares: SharedBudget;
  readonly #changed: () => void;
  #countedBytes = 0;

  /** @param changed called after more or less of the counted bytes are held */
  constructor(totalBytes: number, percents: SharePercents = {}, changed: () => void = () => {}) {
    this.totalBytes = totalBytes;
    this.#shares = new SharedBudget(totalBytes, percents);
    this.#changed = changed;
  }

  get usedBytes(): number {
    return this.#shares.inUse;
  }

  /** Bytes outside the arena. */
  get countedBytes(): number {
    return this.#countedBytes;
  }

  /** Whether this many more bytes are within the holder's share, however much is left. */
  allows(holder: Holder, bytes: number): boolean {
    return this.#shares.shareObstacle(holder, bytes) === undefined;
  }

  hasRoom(holder: Holder, bytes: number): boolean {
    return this.#shares.obstacle(holder, bytes) === undefined;
  }

  /** For bytes of the arena, whose owner has asked before. */
  take(holder: Holder, bytes: number): void {
    this.#shares.take(holder, bytes);
  }

  give(holder: Holder, bytes: number): void {
    this.#shares.give(holder, bytes);
  }

  /** Counts `bytes` more, or fewer if negative. @throws ServiceError OVERLOADED; nothing has changed then */
  count(holder: Holder, bytes: number): void {
    if (bytes > 0) {
      const obstacle = this.#shares.obstacle(holder, bytes);
      if (obstacle !== undefined) {
        throw new ServiceError('OVERLOADED', { limit: this.#shares.limitAt(obstacle, 'bytes of memory') });
      }
    }
    this.#shares.take(holder, bytes);
    this.#countedBytes += bytes;
    this.#changed();
  }
}

/** Memory that one client makes the server keep outside the arena. */
export class HeldMemory {
  readonly #budget: MemoryBudget;
  readonly #holder: Holder;
  #bytes = 0;

  /** @throws ServiceError OVERLOADED */
  constructor(budget: MemoryBudget, holder: Holder, bytes = 0) {
    this.#budget = budget;
    this.#holder = holder;
    this.resize(bytes);
  }

  /** @throws ServiceError OVERLOADED; nothing has changed then */
  resize(bytes: number): void {
    if (bytes === this.#bytes) return;
    this.#budget.count(this.#holder, bytes - this.#bytes);
    this.#bytes = bytes;
  }

  release(): void {
    this.resize(0);
  }
}
