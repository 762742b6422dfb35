// SPDX-License-Identifier: Apache-2.0
import type { ServiceError } from '../errors/service-error.js';
import type { ArenaRegion } from './arena.js';
import type { ArenaQueue } from './arena-queue.js';

/** Where bytes come from that are to lie in the arena. */
export interface IntakeSource {
  /** How many will come, where that is known. */
  readonly declaredBytes: number | undefined;
  pause(): void;
  resume(): void;
}

export interface IntakeLimits {
  readonly maxBytes: number;
  readonly tooLarge: () => ServiceError;
}

/** A sender gets room in the arena once it has sent this much, so that trickling ones cannot fill it with promises. */
const STAGED_BYTES = 16 * 1024;

/**
 * Takes bytes as they come and copies each once, to its place in a region of the arena. Where there is no room, the
 * source is paused and waits its turn.
 */
export class ArenaIntake {
  readonly #source: IntakeSource;
  readonly #queue: ArenaQueue;
  readonly #limits: IntakeLimits;
  /** What came before there was a region. */
  #staged: Buffer[] = [];
  #receivedBytes = 0;
  #isComplete = false;
  #leaveQueue: (() => void) | undefined;
  #region: ArenaRegion | undefined;
  readonly #complete: (region: ArenaRegion) => void;
  readonly #fail: (error: unknown) => void;

  /**
   * After `complete` the region, exactly as long as what came, is the caller's. After `fail`, which is only called from
   * the queue, and after an exception of `take`, `abandon` gives back what is held.
   * @throws ServiceError when more is declared than is allowed
   */
  constructor(
    source: IntakeSource,
    queue: ArenaQueue,
    limits: IntakeLimits,
    complete: (region: ArenaRegion) => void,
    fail: (error: unknown) => void,
  ) {
    if ((source.declaredBytes ?? 0) > limits.maxBytes) throw limits.tooLarge();
    this.#source = source;
    this.#queue = queue;
    this.#limits = limits;
    this.#complete = complete;
    this.#fail = fail;
  }

  /** @throws ServiceError when there is too much of it, or too many wait for room */
  take(chunk: Uint8Array, isLast: boolean): void {
    const before = this.#receivedBytes;
    this.#receivedBytes += chunk.length;
    this.#isComplete = isLast;
    if (this.#receivedBytes > this.#limits.maxBytes) throw this.#limits.tooLarge();
    if (this.#region === undefined && this.#leaveQueue === undefined && this.#hasSentEnough())
      this.#askForRoom();
    if (this.#region === undefined) this.#staged.push(Buffer.from(chunk));
    else this.#put(this.#region, chunk, before);
    this.#completeIfAllIsThere();
  }

  /** Leaves the queue, gives memory back. */
  abandon(): void {
    this.#staged = [];
    this.#leaveQueue?.();
    this.#leaveQueue = undefined;
    if (this.#region !== undefined) this.#queue.release(this.#region);
    this.#region = undefined;
  }

  #hasSentEnough(): boolean {
    return this.#isComplete || this.#receivedBytes >= STAGED_BYTES;
  }

  #askForRoom(): void {
    const { declaredBytes } = this.#source;
    const bytes = this.#isComplete ? this.#receivedBytes : (declaredBytes ?? this.#limits.maxBytes);
    const region = this.#queue.reserve(bytes);
    if (region !== undefined) {
      this.#occupy(region);
      return;
    }
    this.#leaveQueue = this.#queue.wait(bytes, (granted) => this.#enter(granted), this.#fail);
    this.#source.pause();
  }

  /** The queue has given us room. */
  #enter(region: ArenaRegion): void {
    this.#leaveQueue = undefined;
    this.#occupy(region);
    this.#source.resume();
    this.#completeIfAllIsThere();
  }

  #occupy(region: ArenaRegion): void {
    this.#region = region;
    let filled = 0;
    for (const chunk of this.#staged) {
      this.#put(region, chunk, filled);
      filled += chunk.length;
    }
    this.#staged = [];
  }

  #put(region: ArenaRegion, chunk: Uint8Array, position: number): void {
    this.#queue.arena.bytes.set(chunk, region.offset + position);
  }

  #completeIfAllIsThere(): void {
    if (!this.#isComplete || this.#region === undefined) return;
    // Less than was reserved where the length was not declared.
    const region = this.#queue.shrink(this.#region, this.#receivedBytes);
    this.#region = undefined;
    this.#complete(region);
  }
}
