// SPDX-License-Identifier: Apache-2.0
import type { ArenaRegion } from '../../analysis/memory/arena.js';
import { ServiceError } from '../../base/errors/service-error.js';
import { HeldMemory } from '../admission/memory-budget.js';
import { type Holder, nobody } from '../admission/shared-budget.js';
import type { ArenaQueue } from './arena-queue.js';
import { GrowingBytes } from './growing-bytes.js';

/** A source of bytes for the arena. */
export interface IntakeSource {
  /** The number to come, if known. */
  readonly declaredBytes: number | undefined;
  /** Loses its memory when it comes too slowly while others wait for room. */
  readonly isCutWhenSlow?: boolean;
  pause(): void;
  resume(): void;
}

export interface IntakeLimits {
  readonly maxBytes: number;
  readonly tooLarge: () => ServiceError;
  /** The holder of its memory; default nobody in particular. */
  readonly holder?: Holder | undefined;
}

/** Receives the body's progress. */
export interface IntakeListener {
  /** That many bytes lie in the region now. May throw to refuse them. */
  arrived?(region: ArenaRegion, receivedBytes: number): void;
  /** The body is complete. The listener now owns the region, which is exactly as long as the body. */
  complete(region: ArenaRegion): void;
  /** Called from the queue; errors thrown by `take` are not told again. */
  failed(error: unknown): void;
}

/** A sender gets room in the arena once it has sent this much, so that trickling ones cannot fill it with promises. */
const STAGED_BYTES = 16 * 1024;

/**
 * Takes bytes as they come and copies each once, to its place in a region of the arena. Without room, the source is paused and
 * waits its turn.
 */
export class ArenaIntake {
  readonly #source: IntakeSource;
  readonly #queue: ArenaQueue;
  readonly #limits: IntakeLimits;
  readonly #listener: IntakeListener;
  /** Bytes that came before there was a region. */
  #staged = new GrowingBytes();
  readonly #stagedMemory: HeldMemory;
  #receivedBytes = 0;
  #isComplete = false;
  #leaveQueue: (() => void) | undefined;
  #region: ArenaRegion | undefined;
  #stopFilling = (): void => {};

  /** @throws ServiceError when more is declared than is allowed */
  constructor(source: IntakeSource, queue: ArenaQueue, limits: IntakeLimits, listener: IntakeListener) {
    if ((source.declaredBytes ?? 0) > limits.maxBytes) throw limits.tooLarge();
    this.#source = source;
    this.#queue = queue;
    this.#limits = limits;
    this.#listener = listener;
    this.#stagedMemory = new HeldMemory(queue.staging, limits.holder ?? nobody);
  }

  /** @throws ServiceError when there is too much of it, or too many wait for room */
  take(chunk: Uint8Array, isLast: boolean): void {
    const before = this.#receivedBytes;
    this.#receivedBytes += chunk.length;
    this.#isComplete = isLast;
    if (this.#receivedBytes > this.#limits.maxBytes) throw this.#limits.tooLarge();
    if (this.#region === undefined && this.#leaveQueue === undefined && this.#hasSentEnough())
      this.#askForRoom();
    if (this.#region === undefined) {
      this.#stage(chunk);
      return;
    }
    this.#put(this.#region, chunk, before);
    this.#advance(this.#region);
  }

  /** Leaves the queue and gives memory back. Call it after a failure, and when the upload is no longer wanted. */
  abandon(): void {
    this.#unstage();
    this.#stopFilling();
    this.#leaveQueue?.();
    this.#leaveQueue = undefined;
    if (this.#region !== undefined) this.#queue.release(this.#region);
    this.#region = undefined;
  }

  #hasSentEnough(): boolean {
    return this.#isComplete || this.#receivedBytes >= STAGED_BYTES;
  }

  #askForRoom(): void {
    const { holder = nobody, maxBytes } = this.#limits;
    const bytes = this.#isComplete ? this.#receivedBytes : (this.#source.declaredBytes ?? maxBytes);
    const region = this.#queue.reserve(bytes, holder);
    if (region !== undefined) {
      this.#occupy(region);
      return;
    }
    this.#leaveQueue = this.#queue.wait(
      bytes,
      (granted) => this.#enter(granted),
      (error) => this.#listener.failed(error),
      holder,
    );
    this.#source.pause();
  }

  /** The queue has given us room. */
  #enter(region: ArenaRegion): void {
    this.#leaveQueue = undefined;
    try {
      this.#occupy(region);
      this.#source.resume();
      this.#advance(region);
    } catch (error) {
      this.#listener.failed(error);
    }
  }

  #occupy(region: ArenaRegion): void {
    this.#region = region;
    if (!this.#isComplete && this.#source.isCutWhenSlow) this.#fill(region.length);
    this.#put(region, this.#staged.bytes, 0);
    this.#unstage();
  }

  #stage(chunk: Uint8Array): void {
    this.#staged.append(chunk);
    this.#stagedMemory.resize(Math.max(0, this.#staged.capacity - STAGED_BYTES));
  }

  #unstage(): void {
    this.#staged = new GrowingBytes();
    this.#stagedMemory.release();
  }

  #fill(bytes: number): void {
    const received = (): number => this.#receivedBytes;
    const sinceMs = performance.now();
    const cut = (): void => {
      const values = { receivedBytes: received(), seconds: Math.round((performance.now() - sinceMs) / 1000) };
      this.#listener.failed(new ServiceError('RECEIVE_TOO_SLOW', values));
    };
    const { holder = nobody } = this.#limits;
    this.#stopFilling = this.#queue.fill({
      holder,
      bytes,
      sinceMs,
      get receivedBytes() {
        return received();
      },
      cut,
    });
  }

  #put(region: ArenaRegion, chunk: Uint8Array, position: number): void {
    this.#queue.arena.bytes.set(chunk, region.offset + position);
  }

  #advance(region: ArenaRegion): void {
    this.#listener.arrived?.(region, this.#receivedBytes);
    if (!this.#isComplete) return;
    this.#region = undefined;
    this.#stopFilling();
    // Less than was reserved if the length was not declared.
    this.#listener.complete(this.#queue.shrink(region, this.#receivedBytes));
  }
}
