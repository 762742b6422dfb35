// SPDX-License-Identifier: Apache-2.0
import fs from 'node:fs';

export interface BackgroundOutputOptions {
  /** Most text that waits for a reader or a disk; further lines are dropped. */
  readonly maxWaitingBytes?: number;
  /** Most bytes in one write, unless a line is longer. */
  readonly maxWriteBytes?: number;
  /** Makes the line about dropped lines. */
  readonly describeDropped: (lines: number) => string;
  /** Called for each dropped line. */
  readonly onDropped: () => void;
}

const MAX_WAITING_BYTES = 4 << 20;
/** Bytes that start a write; fewer after this time. */
const BATCH_BYTES = 16 << 10;
const BATCH_WAIT_MS = 200;
/** PIPE_BUF of Linux: up to this size, writes of several processes to a pipe never interleave. */
export const ATOMIC_BYTES = 4096;
/** Pause after a failed write; it doubles with each failure. */
const RETRY_MS = 5;
const MAX_RETRY_MS = 200;
/** Time to write the last lines before the process ends. */
const CLOSE_MS = 500;
/** The same for an exit that cannot await anything. */
const CLOSE_NOW_MS = 100;

/** Permanent failures: a closed terminal, an invalid descriptor. */
const finalErrors: readonly unknown[] = ['EIO', 'EBADF'];

/**
 * Writes lines to a descriptor without ever blocking the caller. Lines are collected and written together by libuv's
 * threads: one system call per line would cost as much as the rest of a request. Unwritten lines wait, up to a bound; then
 * they are dropped and counted, and a line reports it as soon as there is room again.
 */
export class BackgroundOutput {
  readonly #fd: number;
  readonly #options: Required<BackgroundOutputOptions>;
  readonly #fullBytes: number;
  /** The unwritten part of the lines taken from `#lines`. */
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

  /** Starts to write the waiting lines. */
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

  /** Stops all writing. */
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

  /** The same without waiting, for a process that ends immediately. */
  closeNow(): void {
    const deadlineMs = performance.now() + CLOSE_NOW_MS;
    // The lines that a thread is writing now count as written.
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
    // Only a slow reader may still take something before the process ends.
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
