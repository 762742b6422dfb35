// SPDX-License-Identifier: Apache-2.0
import { HeldMemory, type MemoryBudget } from '../admission/memory-budget.js';
import type { Holder } from '../admission/shared-budget.js';

const KIBIBYTE = 1024;

export const MAX_AUDIO_MESSAGE_BYTES = 256 * KIBIBYTE;
/** Of messages that the client has not taken: these are always kept, more only if there is memory. */
export const FREE_UNREAD_BYTES = 64 * KIBIBYTE;
/** Windows of decoded audio, speech detection and the decoder of one stream, as `bench/stream.ts` measures them. */
const STATE_BYTES = 1024 * KIBIBYTE;
/** Of audio that waits, and of events for a client that comes back: these are always kept, more only if there is memory. */
const FREE_BYTES = 256 * KIBIBYTE;
/** Overhead per piece of audio. */
export const PIECE_BYTES = 512;
/** The score of a window. */
export const WINDOW_BYTES = 128;
/** Size of an event. */
export const EVENT_BYTES = 512;

class ClientMemory {
  protected readonly held: HeldMemory;

  /** @throws ServiceError OVERLOADED */
  constructor(budget: MemoryBudget, holder: Holder, bytes: number) {
    this.held = new HeldMemory(budget, holder, bytes);
  }

  /** Nothing more is received. @throws ServiceError OVERLOADED */
  keepOnly(bytes: number): void {
    this.held.resize(bytes);
  }

  release(): void {
    this.held.release();
  }
}

/** The memory of a connection, from the moment on that it is a WebSocket: part of a message, and unread ones. */
export class ConnectionMemory extends ClientMemory {
  /** @throws ServiceError OVERLOADED */
  constructor(budget: MemoryBudget, holder: Holder) {
    super(budget, holder, MAX_AUDIO_MESSAGE_BYTES + FREE_UNREAD_BYTES);
  }

  /** @throws ServiceError OVERLOADED */
  keepUnread(bytes: number): void {
    this.held.resize(MAX_AUDIO_MESSAGE_BYTES + Math.max(FREE_UNREAD_BYTES, bytes));
  }
}

/** The memory of a stream, connected or not. */
export class StreamMemory extends ClientMemory {
  /** @throws ServiceError OVERLOADED */
  constructor(budget: MemoryBudget, holder: Holder) {
    super(budget, holder, STATE_BYTES + FREE_BYTES);
  }

  /** @throws ServiceError OVERLOADED */
  keep(bytes: number): void {
    this.held.resize(STATE_BYTES + Math.max(FREE_BYTES, bytes));
  }
}
