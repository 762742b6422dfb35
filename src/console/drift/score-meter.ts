// SPDX-License-Identifier: Apache-2.0
import { BackgroundWriter } from '../../state/records/background-writer.js';
import type { ScoreBook } from './score-book.js';
import { ScoreCounts } from './score-counts.js';

export interface ScoreMeterOptions {
  readonly flushMs?: number;
  readonly nowMs?: () => number;
  /** Told when the database does not take counts; they are kept and tried again. */
  readonly onError: (error: unknown) => void;
}

const FLUSH_MS = 10_000;

/** Counts scores in memory, and now and then adds them to the database. A crash costs the counts since. */
export class ScoreMeter {
  readonly #book: Pick<ScoreBook, 'add'>;
  readonly #nowMs: () => number;
  readonly #writer: BackgroundWriter;
  #counts = new ScoreCounts();

  constructor(book: Pick<ScoreBook, 'add'>, options: ScoreMeterOptions) {
    const { flushMs: everyMs = FLUSH_MS, nowMs = Date.now, onError } = options;
    this.#book = book;
    this.#nowMs = nowMs;
    this.#writer = new BackgroundWriter(() => this.#write(), { everyMs, onError });
  }

  countWindowScore(model: string, fingerprint: string, score: number): void {
    this.#counts.countScore({ model, fingerprint }, 'window', score, this.#nowMs());
  }

  countFileScore(model: string, fingerprint: string, score: number): void {
    this.#counts.countScore({ model, fingerprint }, 'file', score, this.#nowMs());
  }

  /** Resolves when the counts so far are in the database, or have failed to get there. */
  flush(): Promise<void> {
    return this.#writer.flush();
  }

  close(): Promise<void> {
    return this.#writer.close();
  }

  async #write(): Promise<void> {
    const counts = this.#counts;
    if (counts.models.length === 0) return;
    this.#counts = new ScoreCounts();
    try {
      await this.#book.add(counts);
    } catch (error) {
      this.#counts.add(counts);
      throw error;
    }
  }
}
