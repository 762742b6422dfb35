// SPDX-License-Identifier: Apache-2.0
import { ServiceError } from '../errors/service-error.js';
import type { BodyStream } from './body-stream.js';

/** With this much unread the socket is paused. */
const MAX_UNREAD_BYTES = 256 * 1024;
/** A sender has to bring this much per time limit, so that one that trickles does not hold its permit for ever. */
const STEP_BYTES = 256 * 1024;

/**
 * A body of any size, read as fast as it is used. To be made before the request's handler first awaits. Reading throws
 * ServiceError RECEIVE_TIMEOUT when the sender stalls, or the stream's abort reason.
 */
export class BodyReader implements AsyncIterable<Uint8Array> {
  readonly #stream: BodyStream;
  readonly #stallTimeoutMs: number;
  #timer: NodeJS.Timeout | undefined;
  #unread: Buffer[] = [];
  #unreadBytes = 0;
  #isPaused = false;
  #isComplete = false;
  #isClosed = false;
  #failure: unknown;
  #wake = (): void => {};
  #nextStepBytes = STEP_BYTES;
  /** What has arrived so far. */
  receivedBytes = 0;

  constructor(stream: BodyStream, stallTimeoutMs: number) {
    this.#stream = stream;
    this.#stallTimeoutMs = stallTimeoutMs;
    this.#startTimer();
    stream.signal.addEventListener('abort', () => this.#fail(stream.signal.reason), { once: true });
    stream.onChunk((chunk, isLast) => this.#take(chunk, isLast));
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, void> {
    for (;;) {
      const chunk = this.#unread.shift();
      if (chunk !== undefined) {
        this.#unreadBytes -= chunk.length;
        if (this.#unreadBytes < MAX_UNREAD_BYTES) this.#resume();
        yield chunk;
      } else if (this.#failure !== undefined) {
        throw this.#failure;
      } else if (this.#isComplete) {
        return;
      } else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    }
  }

  /** Nobody reads on: what still comes is thrown away. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#unread = [];
    this.#unreadBytes = 0;
  }

  #take(chunk: Uint8Array, isLast: boolean): void {
    if (this.#isClosed) return;
    this.receivedBytes += chunk.length;
    if (chunk.length > 0) this.#unread.push(Buffer.from(chunk));
    this.#unreadBytes += chunk.length;
    if (isLast) {
      this.#isComplete = true;
      clearTimeout(this.#timer);
    } else if (this.#unreadBytes >= MAX_UNREAD_BYTES) {
      this.#pause();
    } else if (this.receivedBytes >= this.#nextStepBytes) {
      this.#startTimer();
    }
    this.#wake();
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
