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
  #isWriting = false;
  #isFailing = false;

  constructor({ everyMs, onError }: BackgroundRecorderOptions) {
    this.#onError = onError;
    this.#timer = setInterval(() => {
      // Attempts that wait for a disk or a lock must not queue up: the end would wait for each of them.
      if (!this.#isWriting) void this.flush();
    }, everyMs);
    this.#timer.unref();
  }

  /** Writes the records since the last time. */
  protected abstract write(): Promise<void>;

  /** Resolves when pending records are written, or have failed to be. */
  flush(): Promise<void> {
    this.#writing = this.#writing.then(() => this.#attempt());
    return this.#writing;
  }

  close(): Promise<void> {
    clearInterval(this.#timer);
    return this.flush();
  }

  async #attempt(): Promise<void> {
    this.#isWriting = true;
    try {
      await this.write();
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing) this.#onError(error);
      this.#isFailing = true;
    }
    this.#isWriting = false;
  }
}
