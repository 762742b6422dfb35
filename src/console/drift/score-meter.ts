// SPDX-License-Identifier: Apache-2.0
import { BackgroundRecorder } from '../../state/records/background-recorder.js';
import { ScoreCounts } from './score-counts.js';
import type { ScoreTable } from './score-table.js';

export interface ScoreMeterOptions {
  readonly flushMs?: number;
  readonly nowMs?: () => number;
  /** Told when the database does not take counts; they are kept and tried again. */
  readonly onError: (error: unknown) => void;
}

const FLUSH_MS = 10_000;

/** Counts scores in memory, and now and then adds them to the database. A crash costs what was counted since. */
export class ScoreMeter extends BackgroundRecorder {
  readonly #scoreTable: Pick<ScoreTable, 'add'>;
  readonly #nowMs: () => number;
  #counts = new ScoreCounts();

  constructor(scoreTable: Pick<ScoreTable, 'add'>, options: ScoreMeterOptions) {
    const { flushMs: everyMs = FLUSH_MS, nowMs = Date.now, onError } = options;
    super({ everyMs, onError });
    this.#scoreTable = scoreTable;
    this.#nowMs = nowMs;
  }

  countWindowScore(model: string, fingerprint: string, score: number): void {
    this.#counts.countScore({ model, fingerprint }, 'window', score, this.#nowMs());
  }

  countFileScore(model: string, fingerprint: string, score: number): void {
    this.#counts.countScore({ model, fingerprint }, 'file', score, this.#nowMs());
  }

  protected async write(): Promise<void> {
    const counts = this.#counts;
    if (counts.models.length === 0) return;
    this.#counts = new ScoreCounts();
    try {
      await this.#scoreTable.add(counts);
    } catch (error) {
      this.#counts.add(counts);
      throw error;
    }
  }
}
