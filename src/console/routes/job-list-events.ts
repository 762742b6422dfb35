// SPDX-License-Identifier: Apache-2.0
import { HEARTBEAT_MS, News, RECONNECT_MS } from '../../api/routes/event-stream.js';
import type { ReplyTexts } from '../../api/routes/route.js';
import { isTransient } from '../../state/database/database.js';
import type { AdminJobList } from '../contract/jobs.js';

export interface ListWatch {
  readonly read: () => Promise<AdminJobList>;
  /** Calls `onChange` soon after the list may have changed. @returns ends it */
  readonly follow: (onChange: () => void) => () => void;
  readonly ending: AbortSignal;
}

/** Between two readings, however often the list changes. */
const LEAST_PAUSE_MS = 1000;
/** Progress of running jobs is not announced. */
const POLL_MS = 2000;

/** A list of jobs for one client: the newest one, whenever it has changed and the client has taken the one before. */
export class JobListEvents implements ReplyTexts {
  readonly #watch: ListWatch;
  readonly #unfollow: () => void;
  #sent = '';
  #isChanged = true;
  #isAnyRunning = false;
  #readAtMs = Number.NEGATIVE_INFINITY;
  #isClosed = false;
  readonly #news = new News();

  constructor(watch: ListWatch) {
    this.#watch = watch;
    this.#unfollow = watch.follow(() => {
      this.#isChanged = true;
      this.#news.tell();
    });
    watch.ending.addEventListener('abort', this.#end);
    if (watch.ending.aborted) this.#end();
  }

  async next(): Promise<string | undefined> {
    const isFirst = this.#sent === '';
    const silentUntilMs = performance.now() + HEARTBEAT_MS;
    while (!this.#isClosed) {
      const waitMs = Math.min(this.#dueAtMs, silentUntilMs) - performance.now();
      if (waitMs > 0) {
        await this.#news.wait(waitMs);
      } else if (this.#dueAtMs <= performance.now()) {
        const list = await this.#read();
        if (list === this.#sent) continue;
        this.#sent = list;
        return `${isFirst ? `retry: ${RECONNECT_MS}\n` : ''}event: jobs\ndata: ${list}\n\n`;
      } else {
        return ': still here\n\n';
      }
    }
    return undefined;
  }

  close(): void {
    this.#end();
    this.#watch.ending.removeEventListener('abort', this.#end);
    this.#unfollow();
  }

  readonly #end = (): void => {
    this.#isClosed = true;
    this.#news.tell();
  };

  get #dueAtMs(): number {
    if (this.#isChanged) return this.#readAtMs + LEAST_PAUSE_MS;
    return this.#isAnyRunning ? this.#readAtMs + POLL_MS : Number.POSITIVE_INFINITY;
  }

  /** @returns the text sent before, while the database is not there */
  async #read(): Promise<string> {
    this.#isChanged = false;
    try {
      const list = await this.#watch.read();
      this.#isAnyRunning = list.jobs.some(({ state }) => state === 'running');
      return JSON.stringify(list);
    } catch (error) {
      if (!isTransient(error)) throw error;
      this.#isChanged = true;
      return this.#sent;
    } finally {
      this.#readAtMs = performance.now();
    }
  }
}
