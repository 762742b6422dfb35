// SPDX-License-Identifier: Apache-2.0
import { ServiceError } from '../../base/errors/service-error.js';
import type { BodyStream } from './body-stream.js';

/** With this much unread the socket is paused. Each body may keep this much; more is taken from the memory of all. */
const PAUSE_AT_BYTES = 256 * 1024;
/**
 * A pause takes effect once uWebSockets.js has emptied the socket: it reads on, without giving way to anything else, for as
 * long as the sender keeps up with it, and one on the same machine may do that to the end of its body. Bytes beyond this, or
 * without memory, go to `onOverflow`.
 */
const OVERFLOW_AT_BYTES = 16 * 1024 * 1024;
/** Bytes a sender must bring per time limit, so that one that trickles does not hold its permit forever. */
const STEP_BYTES = 256 * 1024;

const BLOCK_BYTES = 128 * 1024;
const MAX_SPARE_BLOCKS = 128;
/**
 * Blocks that no reader uses. Left to the garbage collector they would lie about by the hundred megabytes, and memory
 * that is new is so slow to write to that fast senders outrun the pause.
 */
const spareBlocks: Uint8Array[] = [];

function giveBack({ buffer }: Uint8Array): void {
  if (spareBlocks.length < MAX_SPARE_BLOCKS) spareBlocks.push(new Uint8Array(buffer));
}

/**
 * A body of any size, read as fast as it is used. Make it before the request's handler first awaits. Reading throws
 * ServiceError RECEIVE_TIMEOUT if the sender stalls, OVERLOADED without memory, the stream's abort reason, or the errors of
 * `onOverflow`. Each block is overwritten once more is asked for.
 */
export class BodyReader implements AsyncIterable<Uint8Array> {
  readonly #stream: BodyStream;
  readonly #stallTimeoutMs: number;
  #timer: NodeJS.Timeout | undefined;
  /** All blocks full but the last. */
  #blocks: Uint8Array[] = [];
  #lastBlockBytes = BLOCK_BYTES;
  #unreadBytes = 0;
  #isPaused = false;
  #isComplete = false;
  #isClosed = false;
  #failure: unknown;
  #wake = (): void => {};
  #nextStepBytes = STEP_BYTES;
  /** Bytes that have arrived so far. */
  receivedBytes = 0;
  /** Takes unread blocks, in order, from behind the last one read; it has used them when it returns. */
  onOverflow: ((block: Uint8Array) => void) | undefined;

  constructor(stream: BodyStream, stallTimeoutMs: number) {
    this.#stream = stream;
    this.#stallTimeoutMs = stallTimeoutMs;
    this.#startTimer();
    stream.signal.addEventListener('abort', () => this.#fail(stream.signal.reason), { once: true });
    stream.onChunk((chunk, isLast) => this.#take(chunk, isLast));
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, void> {
    for (;;) {
      const block = this.#shift();
      if (block !== undefined) {
        if (this.#unreadBytes < PAUSE_AT_BYTES) {
          this.#stream.keep(0);
          this.#resume();
        }
        try {
          yield block;
        } finally {
          giveBack(block);
        }
      } else if (this.#failure !== undefined) {
        throw this.#failure;
      } else if (this.#isComplete) {
        return;
      } else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
          // The bytes behind the pause may have overflowed: then no block is left whose reading resumes the stream.
          this.#resume();
        });
      }
    }
  }

  /** The reader has gone: further bytes are thrown away. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#blocks.forEach(giveBack);
    this.#blocks = [];
  }

  #take(chunk: Uint8Array, isLast: boolean): void {
    if (this.#isClosed || this.#failure !== undefined) return;
    this.receivedBytes += chunk.length;
    this.#append(chunk);
    this.#keepUnread();
    if (isLast) {
      this.#isComplete = true;
      clearTimeout(this.#timer);
    } else if (this.#unreadBytes >= PAUSE_AT_BYTES) {
      this.#pause();
    } else if (!this.#isPaused && this.receivedBytes >= this.#nextStepBytes) {
      this.#startTimer();
    }
    this.#wake();
  }

  #append(chunk: Uint8Array): void {
    for (let taken = 0; taken < chunk.length; ) {
      if (this.#lastBlockBytes === BLOCK_BYTES) {
        this.#blocks.push(spareBlocks.pop() ?? new Uint8Array(BLOCK_BYTES));
        this.#lastBlockBytes = 0;
      }
      const part = chunk.subarray(taken, taken + BLOCK_BYTES - this.#lastBlockBytes);
      this.#blocks.at(-1)?.set(part, this.#lastBlockBytes);
      this.#lastBlockBytes += part.length;
      taken += part.length;
    }
    this.#unreadBytes += chunk.length;
  }

  #shift(): Uint8Array | undefined {
    const block = this.#blocks.shift();
    const isLast = this.#blocks.length === 0;
    const bytes = isLast ? this.#lastBlockBytes : BLOCK_BYTES;
    if (isLast) this.#lastBlockBytes = BLOCK_BYTES;
    if (block !== undefined) this.#unreadBytes -= bytes;
    return block?.subarray(0, bytes);
  }

  #keepUnread(): void {
    try {
      if (this.onOverflow === undefined || this.#unreadBytes < OVERFLOW_AT_BYTES) {
        this.#stream.keep(Math.max(0, this.#unreadBytes - PAUSE_AT_BYTES));
        return;
      }
    } catch (error) {
      if (this.onOverflow === undefined) this.#fail(error);
    }
    this.#overflow();
  }

  #overflow(): void {
    const { onOverflow } = this;
    if (onOverflow === undefined) return;
    try {
      for (let block = this.#shift(); block !== undefined; block = this.#shift()) {
        onOverflow(block);
        giveBack(block);
      }
      this.#stream.keep(0);
    } catch (error) {
      this.#fail(error);
    }
  }

  #pause(): void {
    if (this.#isPaused) return;
    this.#isPaused = true;
    clearTimeout(this.#timer);
    this.#stream.pause();
  }

  #resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#stream.resume();
    if (!this.#isComplete) this.#startTimer();
  }

  #startTimer(): void {
    this.#nextStepBytes = this.receivedBytes + STEP_BYTES;
    clearTimeout(this.#timer);
    const timeoutMs = this.#stallTimeoutMs;
    this.#timer = setTimeout(() => this.#fail(new ServiceError('RECEIVE_TIMEOUT', { timeoutMs })), timeoutMs);
  }

  #fail(error: unknown): void {
    if (this.#isComplete || this.#isClosed) return;
    this.#failure ??= error;
    clearTimeout(this.#timer);
    this.#wake();
  }
}
