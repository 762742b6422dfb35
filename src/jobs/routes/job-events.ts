// SPDX-License-Identifier: Apache-2.0

import { callerOf, type Reply, type ReplyTexts, type RouteRequest } from '../../api/routes/route.js';
import { ServiceError } from '../../base/errors/service-error.js';
import type { JobSummary } from '../contract/job.js';
import { jobEvents } from '../contract/job-endpoints.js';
import type { JobWatch } from './job-watch.js';

/** Proxies close connections that say nothing; most wait for a minute. */
export const HEARTBEAT_MS = 15_000;
/** After which a client comes again when its connection was cut. */
export const RECONNECT_MS = 2000;

/** `GET /v1/jobs/{id}/events`. @param stopping aborted when clients should go to another server */
export async function follow(watch: JobWatch, stopping: AbortSignal, request: RouteRequest): Promise<Reply> {
  const [start = '', end = ''] = jobEvents.path.split('{id}');
  const id = request.path.slice(start.length, -end.length).slice(0, 64);
  const job = await watch.lookAt(callerOf(request).account, id);
  if (job === undefined) throw new ServiceError('JOB_NOT_FOUND');
  return eventStream(new JobEvents(job, watch, stopping));
}

/** The answer with these events. */
export const eventStream = (texts: ReplyTexts): Reply => ({
  status: 200,
  contentType: 'text/event-stream',
  body: '',
  headers: [
    ['cache-control', 'no-store'],
    // nginx would collect them.
    ['x-accel-buffering', 'no'],
  ],
  texts,
});

/** The events of one job for one client: the newest state, whenever the client has taken the one before. */
export class JobEvents implements ReplyTexts {
  readonly #unwatch: () => void;
  readonly #stopping: AbortSignal;
  #newest: JobSummary;
  #sent = '';
  #isOver = false;
  #wake = (): void => {};

  constructor(job: JobSummary, watch: JobWatch, stopping: AbortSignal) {
    this.#newest = job;
    this.#stopping = stopping;
    stopping.addEventListener('abort', this.#end);
    if (stopping.aborted) this.#end();
    this.#unwatch = watch.add(job.id, (changed) => {
      // Old jobs are removed.
      if (changed === undefined) return this.#end();
      this.#newest = changed;
      if (JSON.stringify(changed) !== this.#sent) this.#wake();
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
      if (!isWaiting) return ': still here\n\n';
      await this.#change();
    }
  }

  close(): void {
    this.#end();
    this.#stopping.removeEventListener('abort', this.#end);
    this.#unwatch();
  }

  readonly #end = (): void => {
    this.#isOver = true;
    this.#wake();
  };

  /** Or the time for a sign of life. */
  #change(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, HEARTBEAT_MS);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
