// SPDX-License-Identifier: Apache-2.0

export interface BackgroundRecorderOptions {
  readonly everyMs: number;
  /** Told when writing begins to fail; not again at every attempt. */
  readonly onError: (error: unknown) => void;
}

/**
 * Keeps what it records in memory, and writes it now and then and on request, never twice at the same time; a failure is tried again
 * the next time.
 */
export abstract class BackgroundRecorder {
  readonly #onError: (error: unknown) => void;
  readonly #timer: NodeJS.Timeout;
  #writing: Promise<void> = Promise.resolve();
  /** The attempt that has not begun yet. */
  #next: Promise<void> | undefined;
  #isFailing = false;

  constructor({ everyMs, onError }: BackgroundRecorderOptions) {
    this.#onError = onError;
    this.#timer = setInterval(() => void this.flush(), everyMs);
    this.#timer.unref();
  }

  /** Writes the records since the last time. */
  protected abstract write(): Promise<void>;

  /** Resolves when pending records are written, or have failed to be. */
  flush(): Promise<void> {
    // Attempts that wait for a disk or a database must not queue up: the end would wait for each of them.
    this.#next ??= this.#writing.then(() => this.#attempt());
    this.#writing = this.#next;
    return this.#writing;
  }

  close(): Promise<void> {
    clearInterval(this.#timer);
    return this.flush();
  }

  async #attempt(): Promise<void> {
    this.#next = undefined;
    try {
      await this.write();
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing) this.#onError(error);
      this.#isFailing = true;
    }
  }
}
