// SPDX-License-Identifier: Apache-2.0
//
// This room sends the webhooks that are due, and signs them. Accounts share the sender's requests.
import type { Logger } from '../../base/observe/log.js';
import { isTransient } from '../../state/database/database.js';
import type { Delivery } from '../queue/delivery.js';
import type { DeliveryWorkTable, Turn } from '../queue/delivery-work-table.js';
import { WorkLost } from '../queue/job.js';
import { FairPlaces, type WaitingWork } from '../turns/fair-places.js';
import { HEARTBEAT_MS, LATE_LEASE, LeaseRenewal } from '../turns/lease-renewal.js';
import { Destinations } from './destinations.js';
import type { AttemptEnd } from './webhook-attempt.js';
import type { AttemptOutcome } from './webhook-metrics.js';

export interface WebhookSenderOptions {
  /** Requests at once. */
  readonly parallel: number;
  /** Of them, to the receivers of one account. */
  readonly perAccount: number;
  /** Interval between looks for due deliveries; announcements are faster. */
  readonly pollMs: number;
  readonly attempt: (delivery: Delivery, stopping: AbortSignal) => Promise<AttemptEnd>;
  readonly onAttempt: (outcome: AttemptOutcome) => void;
  readonly log: Logger;
}

/** Looks between searches for dead senders. */
const REAP_EVERY = 3;

/** Takes deliveries that are due and makes them, next to senders on other hosts. */
export class WebhookSender {
  readonly #workTable: DeliveryWorkTable;
  readonly #options: WebhookSenderOptions;
  readonly #destinations = new Destinations();
  readonly #atWork = new Set<Promise<void>>();
  readonly #places: FairPlaces;
  readonly #waiting: WaitingWork<Turn> = {
    take: (except) => this.#takeOne(except),
    // Requests are short: none makes room for others.
    waits: async () => false,
  };
  readonly #stopping = new AbortController();
  readonly #unfollow: () => void;
  readonly #timer: NodeJS.Timeout;
  #looks = 0;
  #looking: Promise<void> | undefined;
  #lookAgain = false;

  constructor(workTable: DeliveryWorkTable, options: WebhookSenderOptions) {
    this.#workTable = workTable;
    this.#options = options;
    this.#places = new FairPlaces({ places: options.parallel, perAccount: options.perAccount });
    this.#unfollow = workTable.follow(() => this.#look());
    this.#timer = setInterval(() => {
      if (this.#looks++ % REAP_EVERY === 0) void this.#tried(async () => void (await workTable.reap()));
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
    while (this.#lookAgain) {
      this.#lookAgain = false;
      await this.#places.fill(this.#waiting, (turn) => this.#begin(turn));
    }
  }

  async #takeOne(except: readonly string[]): Promise<Turn | undefined> {
    if (this.#stopping.signal.aborted) return undefined;
    const turn = await this.#workTable.take(except);
    const pauseMs = turn && this.#destinations.enter(turn.delivery);
    if (turn === undefined || pauseMs === undefined) return turn;
    await this.#workTable.postpone(turn, pauseMs / 1000);
    // Not the next one at once: an account may have thousands, and others come first.
    this.#lookAgain = true;
    return undefined;
  }

  #begin(turn: Turn): void {
    const { delivery } = turn;
    const beganMs = performance.now();
    this.#places.enter(delivery.account);
    const done = this.#tried(() => this.#send(turn)).finally(() => {
      this.#destinations.leave(delivery, performance.now() - beganMs);
      this.#places.leave(delivery.account);
      this.#atWork.delete(done);
      if (!this.#stopping.signal.aborted) this.#look();
    });
    this.#atWork.add(done);
  }

  async #send(turn: Turn): Promise<void> {
    const { signal: stopping } = this.#stopping;
    const { attempt, onAttempt, log } = this.#options;
    const facts = { webhook: turn.delivery.id, job: turn.delivery.jobId };
    const onLate = (silentMs: number): void => log.warn({ ...facts, silentMs }, LATE_LEASE);
    const renewal = new LeaseRenewal(() => this.#renew(turn), HEARTBEAT_MS, onLate);
    let end: AttemptEnd;
    try {
      end = await attempt(turn.delivery, AbortSignal.any([stopping, renewal.signal]));
    } catch (error) {
      if (renewal.signal.aborted) return;
      if (!stopping.aborted) throw error;
      await this.#workTable.postpone(turn, 0);
      return;
    } finally {
      renewal.stop();
    }
    const { status, problem } = end.attempt;
    if (problem === undefined) {
      if (!(await this.#workTable.succeed(turn, end.attempt))) return;
      onAttempt('delivered');
      log.info({ ...facts, status }, 'webhook delivered');
      return;
    }
    const isRetried = await this.#workTable.fail(turn, end.attempt, end);
    if (isRetried === undefined) return;
    onAttempt(isRetried ? 'retried' : 'failed');
    log.warn({ ...facts, problem }, isRetried ? 'webhook failed; will retry' : 'webhook failed for good');
  }

  async #renew(turn: Turn): Promise<void> {
    const isOurs = await this.#workTable.renew(turn);
    if (!isOurs) throw new WorkLost(`The webhook ${turn.delivery.id} is in other hands.`);
  }

  async #tried(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      const { log } = this.#options;
      // Work in hand is taken up again at the end of its lease.
      if (isTransient(error)) log.warn({ err: error }, 'cannot send webhooks: the database is unavailable');
      else log.error({ err: error }, 'webhooks could not be sent');
    }
  }
}
