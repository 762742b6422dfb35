// SPDX-License-Identifier: Apache-2.0
import './telemetry-off.js';
import { fileURLToPath } from 'node:url';
import { Piscina } from 'piscina';
import type { CodedSound } from '../../base/addon/addon.js';
import type { ScoringResult, ScoringTask, ScoringWorkerData } from './scoring-task.js';

/** One thread that owns the sessions on a device. */
export interface ScoringOwner {
  warmUp(): Promise<void>;
  /** @param sounds how the sound in each slot was coded */
  score(
    model: number,
    slots: readonly number[],
    sounds: readonly CodedSound[],
    wantsVectors?: boolean,
  ): Promise<ScoringResult>;
  /** Makes all sessions anew. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

/**
 * One thread that owns a session of every model. A pool of exactly one thread, so that warm-up and release
 * reach each thread, and no session is ever made twice (memory grows when sessions come and go).
 */
export class ScoringThread implements ScoringOwner {
  readonly #piscina: Piscina<ScoringTask, ScoringResult>;

  /** @param onThreadError told when the thread died while it had nothing to do; it is replaced */
  constructor(workerData: ScoringWorkerData, onThreadError: (error: unknown) => void) {
    this.#piscina = new Piscina({
      filename: fileURLToPath(new URL('./scoring-worker.js', import.meta.url)),
      minThreads: 1,
      maxThreads: 1,
      // The scheduler hands over one batch at a time.
      maxQueue: 2,
      recordTiming: false,
      workerData,
    });
    // Without a listener the death of an idle thread would be the end of the process.
    this.#piscina.on('error', onThreadError);
  }

  async warmUp(): Promise<void> {
    await this.#piscina.run({ kind: 'warm-up' });
  }

  score(
    model: number,
    slots: readonly number[],
    sounds: readonly CodedSound[],
    wantsVectors = false,
  ): Promise<ScoringResult> {
    return this.#piscina.run({ kind: 'score', model, slots, sounds, wantsVectors });
  }

  async restart(): Promise<void> {
    // A failed thread may not even be able to release its sessions.
    await this.#piscina.run({ kind: 'release' }).catch(() => {});
    await this.warmUp();
  }

  /** Releases the sessions first: a process that exits with live sessions may crash in their destructors. */
  async close(): Promise<void> {
    try {
      await this.#piscina.run({ kind: 'release' });
    } finally {
      // Its `close` would keep everything that the pool refers to for 30 s. The thread is idle now.
      await this.#piscina.destroy();
    }
  }
}
