// SPDX-License-Identifier: Apache-2.0
import { ServiceError } from '../errors/service-error.js';
import type { ArenaRegion, UploadArena } from './arena.js';

interface Waiter {
  readonly bytes: number;
  readonly granted: (region: ArenaRegion) => void;
  timer: NodeJS.Timeout;
}

export interface ArenaQueueLimits {
  /** Uploads that may wait at once; each holds at most the one chunk that had already arrived. */
  readonly maxWaiting: number;
  readonly timeoutMs: number;
}

/**
 * Hands out arena regions in order of arrival. Strictly first in, first out: a small upload never overtakes a large
 * one, or the large one could wait for ever. All regions go back through here, so that the next waiter gets them.
 */
export class ArenaQueue {
  readonly arena: UploadArena;
  readonly #limits: ArenaQueueLimits;
  readonly #waiting = new Set<Waiter>();
  #granting = false;

  constructor(arena: UploadArena, limits: ArenaQueueLimits) {
    this.arena = arena;
    this.#limits = limits;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** A region now, or undefined when there is no room or others were here first. */
  reserve(bytes: number): ArenaRegion | undefined {
    return this.#waiting.size === 0 ? this.arena.reserve(bytes) : undefined;
  }

  /**
   * Calls `granted` once there is room, or `refused` after the time limit. Returns how to leave the queue.
   * @throws ServiceError OVERLOADED when the queue is full.
   */
  wait(
    bytes: number,
    granted: (region: ArenaRegion) => void,
    refused: (error: ServiceError) => void,
  ): () => void {
    if (this.#waiting.size >= this.#limits.maxWaiting) {
      throw new ServiceError('OVERLOADED', { limit: 'upload bytes in flight' });
    }
    const leave = (): void => {
      clearTimeout(waiter.timer);
      // Whoever stands behind may fit where this one did not.
      if (this.#waiting.delete(waiter)) this.#grant();
    };
    const timer = setTimeout(() => {
      leave();
      refused(new ServiceError('OVERLOADED', { limit: 'upload bytes in flight' }));
    }, this.#limits.timeoutMs);
    const waiter: Waiter = { bytes, granted, timer };
    this.#waiting.add(waiter);
    return leave;
  }

  shrink(region: ArenaRegion, bytes: number): ArenaRegion {
    const smaller = this.arena.shrink(region, bytes);
    this.#grant();
    return smaller;
  }

  release(region: ArenaRegion): void {
    this.arena.release(region);
    this.#grant();
  }

  #grant(): void {
    // A granted upload may fail at once and release its region: that release is then served by this same loop.
    if (this.#granting || this.#waiting.size === 0) return;
    this.#granting = true;
    try {
      for (const waiter of this.#waiting) {
        const region = this.arena.reserve(waiter.bytes);
        if (region === undefined) break;
        clearTimeout(waiter.timer);
        this.#waiting.delete(waiter);
        waiter.granted(region);
      }
    } finally {
      this.#granting = false;
    }
  }
}
