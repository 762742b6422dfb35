// SPDX-License-Identifier: Apache-2.0

import type { Logger } from '../../base/observe/log.js';
import type { AttemptOutcome } from '../../base/observe/webhook-metrics.js';
import { isTransient } from '../../state/database/database.js';
import type { Delivery } from '../../state/webhooks/delivery.js';
import type { DeliveryDesk, Turn } from '../../state/webhooks/delivery-desk.js';
import { Destinations } from './destinations.js';
import type { AttemptEnd } from './webhook-attempt.js';

export interface WebhookSenderOptions {
  /** Requests at once. */
  readonly parallel: number;
  /** How often to look for what is due; announcements are faster. */
  readonly pollMs: number;
  readonly attempt: (delivery: Delivery, stopping: AbortSignal) => Promise<AttemptEnd>;
  readonly onAttempt: (outcome: AttemptOutcome) => void;
  readonly log: Logger;
}

/** Dead senders are rare: every so many looks. */
const REAP_EVERY = 10;

/** Takes deliveries that are due and makes them, next to senders on other hosts. */
export class WebhookSender {
  readonly #desk: DeliveryDesk;
  readonly #options: WebhookSenderOptions;
  readonly #destinations = new Destinations();
  readonly #atWork = new Set<Promise<void>>();
  readonly #stopping = new AbortController();
  readonly #unfollow: () => void;
  readonly #timer: NodeJS.Timeout;
  #looks = 0;
  #looking: Promise<void> | undefined;
  #lookAgain = false;

  constructor(desk: DeliveryDesk, options: WebhookSenderOptions) {
    this.#desk = desk;
    this.#options = options;
    this.#unfollow = desk.follow(() => this.#look());
    this.#timer = setInterval(() => {
      if (this.#looks++ % REAP_EVERY === 0) void this.#tried(async () => void (await desk.reap()));
      this.#look();
    }, options.pollMs);
    this.#look();
  }

  /** Cuts off requests in flight and leaves them to others, or to the next start. */
  async close(): Promise<void> {
    this.#unfollow();
    clearInterval(this.#timer);
    this.#stopping.abort(new Error('The server stops.'));
    await this.#looking;
    await Promise.allSettled(this.#atWork);
  }

  #look(): void {
    this.#lookAgain = true;
    if (this.#looking !== undefined) return;
    this.#looking = this.#tried(() => this.#takeAll());
    void this.#looking.then(() => {
      this.#looking = undefined;
    });
  }

  async #takeAll(): Promise<void> {
    const { signal } = this.#stopping;
    while (this.#lookAgain) {
      this.#lookAgain = false;
      while (!signal.aborted && this.#atWork.size < this.#options.parallel) {
        const turn = await this.#desk.take();
        if (turn === undefined) break;
        const origin = originOf(turn.delivery.url);
        const pauseMs = this.#destinations.enter(origin);
        if (pauseMs === undefined) this.#begin(turn, origin);
        else await this.#desk.postpone(turn, pauseMs / 1000);
      }
    }
  }

  #begin(turn: Turn, origin: string): void {
    const beganMs = performance.now();
    const done = this.#tried(() => this.#send(turn)).finally(() => {
      this.#destinations.leave(origin, performance.now() - beganMs);
      this.#atWork.delete(done);
      if (!this.#stopping.signal.aborted) this.#look();
    });
    this.#atWork.add(done);
  }

  async #send(turn: Turn): Promise<void> {
    const { signal } = this.#stopping;
    const { attempt, onAttempt, log } = this.#options;
    const facts = { webhook: turn.delivery.id, job: turn.delivery.jobId };
    let end: AttemptEnd;
    try {
      end = await attempt(turn.delivery, signal);
    } catch (error) {
      if (!signal.aborted) throw error;
      await this.#desk.postpone(turn, 0);
      return;
    }
    const { status, problem } = end.attempt;
    if (problem === undefined) {
      if (!(await this.#desk.succeed(turn, end.attempt))) return;
      onAttempt('delivered');
      log.info({ ...facts, status }, 'webhook delivered');
      return;
    }
    const isRetried = await this.#desk.fail(turn, end.attempt, end);
    if (isRetried === undefined) return;
    onAttempt(isRetried ? 'retried' : 'failed');
    log.warn({ ...facts, problem }, isRetried ? 'webhook failed; will retry' : 'webhook failed for good');
  }

  async #tried(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      const { log } = this.#options;
      // What was in work is taken up again at the end of its lease.
      if (isTransient(error)) log.warn({ err: error }, 'the database is not there for webhooks');
      else log.error({ err: error }, 'webhooks could not be sent');
    }
  }
}

const originOf = (url: string): string => (URL.canParse(url) ? new URL(url).origin : '');
