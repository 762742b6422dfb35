// SPDX-License-Identifier: Apache-2.0
import type { RequestRecord, RequestRecorder } from '../../base/observe/request-record.js';
import { BackgroundWriter, type BackgroundWriterOptions } from './background-writer.js';

/** Keeps its records in memory, and writes them now and then. */
export abstract class BackgroundRecorder implements RequestRecorder {
  protected readonly writer: BackgroundWriter;

  constructor(options: BackgroundWriterOptions) {
    this.writer = new BackgroundWriter(() => this.write(), options);
  }

  abstract record(record: RequestRecord): void;

  /** Writes the records since the last time. */
  protected abstract write(): Promise<void>;

  /** Resolves when the records so far are written, or have failed to be. */
  flush(): Promise<void> {
    return this.writer.flush();
  }

  close(): Promise<void> {
    return this.writer.close();
  }
}
