// SPDX-License-Identifier: Apache-2.0
import { eventStream, News, RECONNECT_MS, SIGN_OF_LIFE } from '../../api/routes/event-stream.js';
import { callerOf, idIn, type Reply, type ReplyTexts, type RouteRequest } from '../../api/routes/route.js';
import { ServiceError } from '../../base/errors/service-error.js';
import type { JobSummary } from '../contract/job.js';
import { jobEvents } from '../contract/job-endpoints.js';
import type { JobWatch } from './job-watch.js';

/** `GET /v1/jobs/{id}/events`. @param stopping aborted when clients should go to another server */
export async function follow(watch: JobWatch, stopping: AbortSignal, request: RouteRequest): Promise<Reply> {
  const id = idIn(request.path, jobEvents.path).slice(0, 64);
  const job = await watch.lookAt(callerOf(request).account, id);
  if (job === undefined) throw new ServiceError('JOB_NOT_FOUND');
  return eventStream(new JobEvents(job, watch, stopping));
}

/** The events of one job for one client: the newest state, whenever the client has taken the one before. */
export class JobEvents implements ReplyTexts {
  readonly #unwatch: () => void;
  readonly #stopping: AbortSignal;
  #newest: JobSummary;
  #sent = '';
  #isOver = false;
  readonly #news = new News();

  constructor(job: JobSummary, watch: JobWatch, stopping: AbortSignal) {
    this.#newest = job;
    this.#stopping = stopping;
    stopping.addEventListener('abort', this.#end);
    if (stopping.aborted) this.#end();
    this.#unwatch = watch.add(job.id, (changed) => {
      // Old jobs are removed.
      if (changed === undefined) return this.#end();
      this.#newest = changed;
      if (JSON.stringify(changed) !== this.#sent) this.#news.tell();
    });
  }

  async next(): Promise<string | undefined> {
    const isFirst = this.#sent === '';
    for (let isWaiting = true; ; isWaiting = false) {
      const data = JSON.stringify(this.#newest);
      if (data !== this.#sent && !(this.#isOver && !isFirst)) {
        this.#sent = data;
        return `${isFirst ? `retry: ${RECONNECT_MS}\n` : ''}event: job\ndata: ${data}\n\n`;
      }
      if (this.#isOver || this.#newest.finished_at !== null) return undefined;
      if (!isWaiting) return SIGN_OF_LIFE;
      await this.#news.wait();
    }
  }

  close(): void {
    this.#end();
    this.#stopping.removeEventListener('abort', this.#end);
    this.#unwatch();
  }

  readonly #end = (): void => {
    this.#isOver = true;
    this.#news.tell();
  };
}
