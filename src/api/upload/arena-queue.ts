// SPDX-License-Identifier: Apache-2.0
import type { ArenaRegion, UploadArena } from '../../analysis/memory/arena.js';
import { ServiceError } from '../../base/errors/service-error.js';
import { MemoryBudget } from '../admission/memory-budget.js';
import { type Holder, nobody, type SharePercents } from '../admission/shared-budget.js';
import { type FillingRegion, slowest } from './filling-region.js';

interface Waiter {
  readonly bytes: number;
  readonly holder: Holder;
  readonly sinceMs: number;
  readonly granted: (region: ArenaRegion) => void;
  timer: NodeJS.Timeout;
}

export interface ArenaQueueLimits {
  /** Uploads that may wait at once. */
  readonly maxWaiting: number;
  readonly timeoutMs: number;
  /** Shares of holders. */
  readonly percents?: SharePercents;
}

/** Interval between searches for uploads that hold memory without filling it, while others wait. */
const CUT_SLOW_MS = 250;
/** Share of the arena's size for bytes sent before a region is granted: at least what some sixty uploads can send at once. */
const STAGING_SHARE = 1 / 8;
const LEAST_STAGING_BYTES = 32 * 1024 * 1024;

/**
 * Hands out arena regions. Keys take turns, and none gets more than its share; the uploads of one key are served in order of
 * arrival, so that a small one never overtakes a large one, which could wait forever otherwise. All regions go back through
 * here, so that the next waiter gets them.
 */
export class ArenaQueue {
  readonly arena: UploadArena;
  /** Of the regions, and of other memory that clients use. */
  readonly memory: MemoryBudget;
  /** For bytes sent before a region is granted. */
  readonly staging: MemoryBudget;
  readonly #limits: ArenaQueueLimits;
  /** By key; the first lane is the one whose turn it is. */
  readonly #lanes = new Map<string, Waiter[]>();
  /** The holder of each region, by its offset. */
  readonly #holders = new Map<number, Holder>();
  readonly #filling = new Set<FillingRegion>();
  #waiting = 0;
  #granting = false;
  #cutting: NodeJS.Timeout | undefined;

  constructor(arena: UploadArena, limits: ArenaQueueLimits) {
    this.arena = arena;
    this.#limits = limits;
    this.memory = new MemoryBudget(arena.totalBytes, limits.percents, () => this.#memoryChanged());
    this.staging = new MemoryBudget(
      Math.max(arena.totalBytes * STAGING_SHARE, LEAST_STAGING_BYTES),
      limits.percents,
    );
  }

  get waiting(): number {
    return this.#waiting;
  }

  /** A region now, or undefined when there is no room or others were here first. */
  reserve(bytes: number, holder: Holder = nobody): ArenaRegion | undefined {
    const { key = '' } = holder;
    const isFirst = !this.#lanes.has(key) && this.#next() === undefined;
    return isFirst && this.#mayHave(holder, bytes) ? this.#take(bytes, holder) : undefined;
  }

  /**
   * Calls `granted` once there is room, or `refused` after the time limit. Returns how to leave the queue.
   * @throws ServiceError OVERLOADED when the queue is full.
   */
  wait(
    bytes: number,
    granted: (region: ArenaRegion) => void,
    refused: (error: ServiceError) => void,
    holder: Holder = nobody,
  ): () => void {
    if (this.#isFullFor(holder)) throw new ServiceError('OVERLOADED', { limit: 'upload bytes in flight' });
    const leave = (): void => {
      clearTimeout(waiter.timer);
      // A later one may fit although this one did not.
      if (this.#remove(waiter)) this.#grant();
    };
    const timer = setTimeout(() => {
      leave();
      refused(new ServiceError('OVERLOADED', { limit: 'upload bytes in flight' }));
    }, this.#limits.timeoutMs);
    const waiter: Waiter = { bytes, holder, granted, timer, sinceMs: performance.now() };
    const { key = '' } = holder;
    const lane = this.#lanes.get(key);
    if (lane) lane.push(waiter);
    else this.#lanes.set(key, [waiter]);
    this.#waiting++;
    this.#cutting ??= setInterval(() => this.#cutSlow(), CUT_SLOW_MS).unref();
    return leave;
  }

  /** Of an upload that has its region and is still arriving. Returns how to say that it has arrived, or is given up. */
  fill(region: FillingRegion): () => void {
    this.#filling.add(region);
    return () => {
      this.#filling.delete(region);
    };
  }

  shrink(region: ArenaRegion, bytes: number): ArenaRegion {
    const smaller = this.arena.shrink(region, bytes);
    this.memory.give(this.#holders.get(region.offset) ?? nobody, region.length - bytes);
    this.#grant();
    return smaller;
  }

  release(region: ArenaRegion): void {
    this.arena.release(region);
    this.memory.give(this.#holders.get(region.offset) ?? nobody, region.length);
    this.#holders.delete(region.offset);
    this.#grant();
  }

  /** The last quarter is for keys of which nothing waits yet. */
  #isFullFor({ key = '' }: Holder): boolean {
    const { maxWaiting } = this.#limits;
    const isNew = !this.#lanes.has(key);
    return this.#waiting >= (isNew || this.#lanes.size === 0 ? maxWaiting : Math.ceil(maxWaiting * 0.75));
  }

  #mayHave(holder: Holder, bytes: number): boolean {
    return this.memory.allows(holder, bytes);
  }

  #take(bytes: number, holder: Holder): ArenaRegion | undefined {
    if (!this.memory.hasRoom(holder, bytes)) return undefined;
    const region = this.arena.reserve(bytes);
    if (region === undefined) return undefined;
    this.#holders.set(region.offset, holder);
    this.memory.take(holder, bytes);
    return region;
  }

  /** The waiter whose turn it is, if there is one whose holder has not its share already. */
  #next(): Waiter | undefined {
    for (const [first] of this.#lanes.values()) {
      if (first !== undefined && this.#mayHave(first.holder, first.bytes)) return first;
    }
    return undefined;
  }

  #grant(): void {
    // A granted upload may fail at once and release its region: that release is then served by this same loop.
    if (this.#granting || this.#waiting === 0) return;
    this.#granting = true;
    try {
      for (let next = this.#next(); next !== undefined; next = this.#next()) {
        const region = this.#take(next.bytes, next.holder);
        if (region === undefined) break;
        clearTimeout(next.timer);
        this.#remove(next);
        this.#toTheEnd(next.holder);
        next.granted(region);
      }
    } finally {
      this.#granting = false;
    }
  }

  #memoryChanged(): void {
    this.arena.limitResident(this.memory.totalBytes - this.memory.countedBytes);
    this.#grant();
  }

  #remove(waiter: Waiter): boolean {
    const { key = '' } = waiter.holder;
    const lane = this.#lanes.get(key) ?? [];
    const index = lane.indexOf(waiter);
    if (index < 0) return false;
    lane.splice(index, 1);
    if (lane.length === 0) this.#lanes.delete(key);
    this.#waiting--;
    if (this.#waiting === 0) {
      clearInterval(this.#cutting);
      this.#cutting = undefined;
    }
    return true;
  }

  #toTheEnd({ key = '' }: Holder): void {
    const lane = this.#lanes.get(key);
    if (lane === undefined) return;
    this.#lanes.delete(key);
    this.#lanes.set(key, lane);
  }

  /** For the first of each key that has waited for a while: uploads that hold memory and do not fill it make room. */
  #cutSlow(): void {
    const nowMs = performance.now();
    const waiters = [...this.#lanes.values()].flatMap(([first]) => first ?? []);
    for (const waiter of waiters) {
      const { bytes, holder, sinceMs } = waiter;
      // Room made for one waiter may also have served the next.
      const isWaiting = this.#lanes.get(holder.key ?? '')?.includes(waiter) === true;
      if (!isWaiting || nowMs - sinceMs < CUT_SLOW_MS) continue;
      // If its own share keeps it waiting, room that another key gives is of no use to it.
      const isOwnFault = !this.#mayHave(holder, bytes);
      const candidates = [...this.#filling].filter(
        (region) => !isOwnFault || region.holder.key === holder.key,
      );
      for (const region of slowest(candidates, bytes, nowMs)) region.cut();
    }
  }
}
