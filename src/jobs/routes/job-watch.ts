// SPDX-License-Identifier: Apache-2.0
import type { JobSummary } from '../contract/job.js';
import type { JobTable } from '../queue/job-table.js';
import { summariesOf } from './job-answers.js';

type Listener = (job: JobSummary | undefined) => void;

/** Between two questions to the database, however many jobs change. */
const LEAST_PAUSE_MS = 200;
/** Progress is not announced. */
const POLL_MS = 1000;

/** Watches the jobs that clients follow, with one question to the database for all of them. Asks nothing while there are none. */
export class JobWatch {
  readonly #jobs: JobTable;
  readonly #listeners = new Map<string, Set<Listener>>();
  #timer: NodeJS.Timeout | undefined;
  #unfollow: (() => void) | undefined;
  #isLooking = false;
  #isChanged = false;

  constructor(jobs: JobTable) {
    this.#jobs = jobs;
  }

  /** @returns undefined if the account has no such job */
  async lookAt(account: string, id: string): Promise<JobSummary | undefined> {
    const found = await this.#jobs.find([id]);
    const own = found.filter((job) => job.account === account && job.batchId === undefined);
    return (await summariesOf(this.#jobs, own))[0];
  }

  /**
   * @param listener called now and then with the job, also if it has not changed, and with undefined once it is removed
   * @returns ends it
   */
  add(id: string, listener: Listener): () => void {
    const listeners = this.#listeners.get(id) ?? new Set();
    this.#listeners.set(id, listeners.add(listener));
    this.#unfollow ??= this.#jobs.follow(() => this.#changed());
    // A look that is under way sets the timer itself: another one would go on beside it, forever.
    if (!this.#isLooking) this.#timer ??= setTimeout(() => this.#look(), POLL_MS);
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.#listeners.get(id) === listeners) this.#listeners.delete(id);
      if (this.#listeners.size > 0) return;
      clearTimeout(this.#timer);
      this.#timer = undefined;
      this.#unfollow?.();
      this.#unfollow = undefined;
    };
  }

  #changed(): void {
    if (this.#isChanged || this.#listeners.size === 0) return;
    this.#isChanged = true;
    // A look that is under way may have come too early.
    if (this.#isLooking) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#look(), LEAST_PAUSE_MS);
  }

  async #look(): Promise<void> {
    this.#isLooking = true;
    this.#isChanged = false;
    try {
      const ids = [...this.#listeners.keys()];
      const found = await summariesOf(this.#jobs, await this.#jobs.find(ids));
      const byId = new Map(found.map((job) => [job.id, job]));
      for (const id of ids) {
        for (const listener of this.#listeners.get(id) ?? []) listener(byId.get(id));
      }
    } catch {
      // The database is not there: clients hear of that when they ask for something. Followers wait.
    }
    this.#isLooking = false;
    this.#timer = undefined;
    if (this.#listeners.size === 0) return;
    this.#timer = setTimeout(() => this.#look(), this.#isChanged ? LEAST_PAUSE_MS : POLL_MS);
  }
}
