// SPDX-License-Identifier: Apache-2.0
import fs from 'node:fs';

export interface BackgroundOutputOptions {
  /** Text that waits for a reader or a disk; what comes then is dropped. */
  readonly maxWaitingBytes?: number;
  /** What one write holds at most, unless a line is longer. */
  readonly maxWriteBytes?: number;
  /** Makes the line that says how many were dropped. */
  readonly describeDropped: (lines: number) => string;
  /** Told of each line that is dropped. */
  readonly onDropped: () => void;
}

const MAX_WAITING_BYTES = 4 << 20;
/** So many bytes are written at once; fewer once they have waited for so long. */
const BATCH_BYTES = 16 << 10;
const BATCH_WAIT_MS = 200;
/** PIPE_BUF of Linux: a pipe takes so much whole, with nothing of another process in between. */
export const ATOMIC_BYTES = 4096;
/** After a write that failed; the time doubles with each. */
const RETRY_MS = 5;
const MAX_RETRY_MS = 200;
/** How long the last lines may take to be written before the process ends. */
const CLOSE_MS = 500;
/** The same for an end that nothing can be awaited in. */
const CLOSE_NOW_MS = 100;

/** Failures after which nothing can ever be written: a terminal that was closed, a descriptor that is none. */
const finalErrors: readonly unknown[] = ['EIO', 'EBADF'];

/**
 * Writes lines to a descriptor without ever holding up the caller. Lines are collected and written together by libuv's
 * threads: one system call per line would cost as much as the rest of a request. Those that cannot be written wait, up to a
 * bound; what comes then is dropped and counted, and a line says so as soon as there is room again.
 */
export class BackgroundOutput {
  readonly #fd: number;
  readonly #options: Required<BackgroundOutputOptions>;
  readonly #fullBytes: number;
  /** Taken from `#lines` to be written, as far as it is not. */
  #batch: Buffer = Buffer.alloc(0);
  #lines: string[] = [];
  #linesBytes = 0;
  #droppedUnsaid = 0;
  #isWriting = false;
  /** Set while writes fail. */
  #retryMs = 0;
  #isOver = false;
  #timer: NodeJS.Timeout | undefined;
  #onIdle: (() => void) | undefined;

  constructor(fd: number, options: BackgroundOutputOptions) {
    this.#fd = fd;
    this.#options = {
      maxWaitingBytes: MAX_WAITING_BYTES,
      maxWriteBytes: Number.POSITIVE_INFINITY,
      ...options,
    };
    this.#fullBytes = Math.min(BATCH_BYTES, this.#options.maxWriteBytes);
  }

  /** @param line with its line break */
  write(line: string): void {
    if (this.#isOver) return;
    const bytes = Buffer.byteLength(line);
    if (this.#linesBytes + this.#batch.length + bytes > this.#options.maxWaitingBytes) {
      this.#droppedUnsaid++;
      this.#options.onDropped();
      return;
    }
    this.#append(line, bytes);
    if (this.#linesBytes >= this.#fullBytes && this.#retryMs === 0) this.flush();
    else this.#flushIn(BATCH_WAIT_MS);
  }

  /** Starts writing what waits, without waiting for more. */
  flush(): void {
    if (this.#isWriting || this.#isOver || !this.#takeBatch()) return;
    this.#isWriting = true;
    fs.write(this.#fd, this.#batch, (error, writtenBytes) => {
      this.#isWriting = false;
      if (this.#isOver) return;
      if (error === null) this.#wrote(writtenBytes);
      else this.#failed(error);
      if (this.#isIdle) this.#onIdle?.();
    });
  }

  /** Nothing is written any more. */
  discard(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#lines = [];
    this.#linesBytes = 0;
    this.#batch = Buffer.alloc(0);
    this.#onIdle?.();
  }

  /** Resolves when everything is written, or half a second later. */
  async close(): Promise<void> {
    const idle = new Promise<void>((resolve) => {
      this.#onIdle = resolve;
    });
    const deadline = setTimeout(() => this.discard(), CLOSE_MS);
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.flush();
    if (this.#isIdle || this.#isOver) this.#onIdle?.();
    await idle;
    clearTimeout(deadline);
    this.#isOver = true;
  }

  /** The same where nothing can be awaited: when the process ends at once. */
  closeNow(): void {
    const deadlineMs = performance.now() + CLOSE_NOW_MS;
    // What a thread is writing in this moment is as good as written.
    if (this.#isWriting) this.#batch = Buffer.alloc(0);
    while (!this.#isOver && this.#takeBatch()) {
      try {
        this.#batch = this.#batch.subarray(fs.writeSync(this.#fd, this.#batch));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN' || performance.now() > deadlineMs) break;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS);
      }
    }
    this.discard();
  }

  get #isClosing(): boolean {
    return this.#onIdle !== undefined;
  }

  get #isIdle(): boolean {
    return !this.#isWriting && this.#batch.length === 0 && this.#lines.length === 0;
  }

  #wrote(bytes: number): void {
    this.#retryMs = 0;
    this.#batch = this.#batch.subarray(bytes);
    if (this.#droppedUnsaid > 0) {
      const line = this.#options.describeDropped(this.#droppedUnsaid);
      this.#droppedUnsaid = 0;
      this.#append(line, Buffer.byteLength(line));
    }
    if (this.#batch.length > 0 || this.#linesBytes >= this.#fullBytes || this.#isClosing) this.flush();
    else if (this.#lines.length > 0) this.#flushIn(BATCH_WAIT_MS);
  }

  #failed({ code }: NodeJS.ErrnoException): void {
    // Only a reader that is slow may still take something before the process ends.
    if (finalErrors.includes(code) || (this.#isClosing && code !== 'EAGAIN')) {
      this.discard();
      return;
    }
    this.#retryMs = Math.min(Math.max(RETRY_MS, 2 * this.#retryMs), MAX_RETRY_MS);
    this.#flushIn(this.#retryMs);
  }

  #flushIn(waitMs: number): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.flush();
    }, waitMs).unref();
  }

  #append(line: string, bytes: number): void {
    this.#lines.push(line);
    this.#linesBytes += bytes;
  }

  #takeBatch(): boolean {
    if (this.#batch.length === 0 && this.#lines.length > 0) {
      this.#batch = Buffer.from(this.#takeLines().join(''));
      this.#linesBytes -= this.#batch.length;
    }
    return this.#batch.length > 0;
  }

  #takeLines(): string[] {
    const { maxWriteBytes } = this.#options;
    let count = this.#lines.length;
    if (this.#linesBytes > maxWriteBytes) {
      let bytes = 0;
      count = this.#lines.findIndex((line) => {
        bytes += Buffer.byteLength(line);
        return bytes > maxWriteBytes;
      });
    }
    return this.#lines.splice(0, Math.max(1, count));
  }
}
