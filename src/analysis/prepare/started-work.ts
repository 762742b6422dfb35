// SPDX-License-Identifier: Apache-2.0
import { availableParallelism } from 'node:os';
import type { Config } from '../../base/config/options.js';
import { Counts } from '../../base/counts.js';

/** For each scoring thread, its current batch and the next one. */
export const batchesPerScoringThread = 2;

type Threads = Pick<Config, 'prepareThreads' | 'scoringThreads'>;

/**
 * Files in work that keep the cores busy. While a file goes from one thread to the next, others must be ready; except on a
 * single core, where the main thread works meanwhile, and threads that alternate on it cost each other's caches.
 */
export const filesForCpu = (
  { prepareThreads, scoringThreads }: Threads,
  cores = availableParallelism(),
): number => (cores === 1 ? 1 : prepareThreads + scoringThreads);

/** Files in work that keep the threads busy, and a GPU, which wants its next batch at once. */
export const filesForGpu = (config: Threads & Pick<Config, 'maxBatchWindows'>): number =>
  config.prepareThreads + batchesPerScoringThread * config.scoringThreads * config.maxBatchWindows;

/**
 * Counts the files of each owner between the start of their preparation and their result. Otherwise the prepared inputs of a
 * greedy owner would fill the room in front of the scoring threads, and its next files would hold the prepare threads
 * until there is room again: a new request would wait for both.
 */
export class StartedWork {
  readonly #maxPerOwner: number;
  readonly #started = new Counts();

  constructor(maxPerOwner: number) {
    this.#maxPerOwner = maxPerOwner;
  }

  hasRoom(owner: string): boolean {
    return this.#started.of(owner) < this.#maxPerOwner;
  }

  begin(owner: string): void {
    this.#started.change(owner, 1);
  }

  end(owner: string): void {
    this.#started.change(owner, -1);
  }
}
