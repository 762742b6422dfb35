// SPDX-License-Identifier: Apache-2.0
import { BackgroundWriter, type BackgroundWriterOptions } from './background-writer.js';

/** Keeps what it records in memory, and writes it now and then. */
export abstract class BackgroundRecorder {
  readonly #writer: BackgroundWriter;

  constructor(options: BackgroundWriterOptions) {
    this.#writer = new BackgroundWriter(() => this.write(), options);
  }

  /** Writes what was recorded since the last time. */
  protected abstract write(): Promise<void>;

  /** Resolves when the records so far are written, or have failed to be. */
  flush(): Promise<void> {
    return this.#writer.flush();
  }

  close(): Promise<void> {
    return this.#writer.close();
  }
}
