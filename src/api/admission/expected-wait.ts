// SPDX-License-Identifier: Apache-2.0
import { Counts } from '../../base/counts.js';
import { ServiceError } from '../../base/errors/service-error.js';

export interface ExpectedWaitOptions {
  /** The longest acceptable wait of the last request in the queue. */
  readonly targetMs: number;
  /** Requests that are worked on at once. */
  readonly parallel: number;
  readonly nowMs?: () => number;
}

/** One admitted request that will need the threads. */
export interface Turn {
  /** Its input has arrived and waits for a thread from now on. @throws ServiceError OVERLOADED */
  begin(): void;
  /** It is over; only the first call counts. Threads have worked on it to its end, or it was given up before. */
  end(wasWorkedOn: boolean): void;
}

/** Until something was measured; right for short clips on a common core. */
const FIRST_GUESS_MS = 50;
/** About the last 20 requests count: at full load less than a second on two cores. */
const WEIGHT = 0.05;
/** Requests of one batch end together. */
const MIN_STEP_MS = 0.01;
/** Bounds of the measured arrival time: without them, slow senders would keep others out. */
const MIN_ARRIVAL_MS = 10;
const MAX_ARRIVAL_MS = 500;
const MAX_RETRY_AFTER_S = 60;

interface Ticket {
  readonly key: string;
  readonly sinceMs: number;
  state: 'arriving' | 'slow' | 'begun' | 'ended';
}

/**
 * Bounds the queue in front of the threads by the time that it takes to work it off, not by its length: with n requests
 * in it and t ms from one finished request to the next, the last one waits for n * t ms. t is measured while there is
 * always something to do, so it holds whatever the files are like, on any machine and beside any other load. CoDel, the
 * alternative, learns of a standing queue only after it has stood for a while, and from requests whose bodies have
 * been received already; this refuses at the door.
 *
 * A key may fill half of the queue at any time, and beyond that its even part, one queue's length divided by the keys that are
 * in it: a key with nothing in the queue finds a place that greedy keys have left.
 */
export class ExpectedWait {
  readonly #targetMs: number;
  readonly #parallel: number;
  readonly #nowMs: () => number;
  readonly #ofKey = new Counts();
  /** In order of arrival; tickets that are no longer arriving are skipped. */
  #arriving: Ticket[] = [];
  #size = 0;
  #begun = 0;
  #perRequestMs: number;
  #isMeasured = false;
  #arrivalMs = MIN_ARRIVAL_MS;
  #lastEndMs = 0;
  /** Requests that the threads had from the last end on. */
  #begunAtLastEnd = 0;
  /** When the refused requests of a key would have had their turns, one after the other. */
  readonly #refusedUntilMs = new Map<string, number>();
  /** By their `Retry-After`: to make an error costs much of a refusal, and under overload they are all alike. */
  readonly #refusals = new Map<number, ServiceError>();

  constructor({ targetMs, parallel, nowMs = () => performance.now() }: ExpectedWaitOptions) {
    this.#targetMs = targetMs;
    this.#parallel = parallel;
    this.#nowMs = nowMs;
    this.#perRequestMs = FIRST_GUESS_MS / parallel;
  }

  /** The wait of a request that comes now. */
  get waitMs(): number {
    return this.#size * this.#perRequestMs;
  }

  /** Requests in the queue and with the threads, or about to be. */
  get size(): number {
    return this.#size;
  }

  /**
   * Takes a request in before its body is read, or returns the refusal. It is not thrown: under overload most requests are
   * refused, and throwing would be a good part of their cost.
   */
  enter(key: string): Turn | ServiceError {
    const refusal = this.refuse(key);
    if (refusal !== undefined) return refusal;
    const nowMs = this.#nowMs();
    const ticket: Ticket = { key, sinceMs: nowMs, state: 'arriving' };
    this.#count(ticket, 1);
    this.#arriving.push(ticket);
    return { begin: () => this.#begin(ticket), end: (wasWorkedOn) => this.#end(ticket, wasWorkedOn) };
  }

  /** The refusal of a request, as `enter` would give it; undefined if there is room for it. */
  refuse(key: string): ServiceError | undefined {
    const nowMs = this.#nowMs();
    this.#forgetSlow(nowMs);
    return this.#hasRoom(key) ? undefined : this.#refusal(key, nowMs);
  }

  /**
   * Whole seconds after which a refused request of a key has good prospects: when the queue is worked off, and earlier refused
   * requests of that key are served. So obedient clients come back spread over time, at the rate that the threads can do.
   */
  retryAfterS(key: string): number {
    const nowMs = this.#nowMs();
    const aheadMs = Math.max(0, (this.#refusedUntilMs.get(key) ?? 0) - nowMs);
    return Math.min(MAX_RETRY_AFTER_S, Math.max(1, Math.ceil((aheadMs + this.waitMs) / 1000)));
  }

  get #places(): number {
    return Math.max(2 * this.#parallel, this.#targetMs / this.#perRequestMs);
  }

  #hasRoom(key: string): boolean {
    const places = this.#places;
    if (this.#size < places / 2) return true;
    const own = this.#ofKey.of(key);
    if (own === 0) return this.#size < 2 * places;
    return this.#size < 2 * places && own < places / this.#ofKey.size;
  }

  #begin(ticket: Ticket): void {
    if (ticket.state === 'slow') {
      // Much more was on its way than is usual, and arrived together.
      if (this.#size >= 2 * this.#places) throw this.#refusal(ticket.key, this.#nowMs());
      this.#count(ticket, 1);
    } else if (ticket.state !== 'arriving') {
      return;
    }
    const tookMs = this.#nowMs() - ticket.sinceMs;
    this.#arrivalMs += WEIGHT * (Math.min(tookMs, MAX_ARRIVAL_MS) - this.#arrivalMs);
    ticket.state = 'begun';
    this.#begun++;
  }

  #end(ticket: Ticket, wasWorkedOn: boolean): void {
    const { state } = ticket;
    if (state === 'ended') return;
    ticket.state = 'ended';
    if (state !== 'slow') this.#count(ticket, -1);
    if (state !== 'begun') return;
    this.#begun--;
    if (!wasWorkedOn) {
      // Clients that go away in crowds do not show the threads' speed, but may leave them without work.
      this.#begunAtLastEnd = Math.min(this.#begunAtLastEnd, this.#begun);
      return;
    }
    this.#measure(ticket);
    this.#begunAtLastEnd = this.#begun;
    this.#lastEndMs = this.#nowMs();
  }

  #measure({ sinceMs }: Ticket): void {
    const nowMs = this.#nowMs();
    // With a thread idle in between, the time from end to end says how much was asked, not how much can be done.
    const isBusy = this.#begunAtLastEnd > this.#parallel;
    if (!isBusy && this.#isMeasured) return;
    this.#isMeasured ||= isBusy;
    const stepMs = isBusy ? nowMs - this.#lastEndMs : (nowMs - sinceMs) / this.#parallel;
    this.#perRequestMs += WEIGHT * (Math.max(MIN_STEP_MS, stepMs) - this.#perRequestMs);
  }

  /** A request that arrives much more slowly than usual keeps nobody out until it is there. */
  #forgetSlow(nowMs: number): void {
    const limitMs = Math.min(MAX_ARRIVAL_MS, Math.max(MIN_ARRIVAL_MS, 2 * this.#arrivalMs));
    let kept = 0;
    for (const ticket of this.#arriving) {
      if (ticket.state === 'arriving' && nowMs - ticket.sinceMs <= limitMs) break;
      if (ticket.state === 'arriving') {
        ticket.state = 'slow';
        this.#count(ticket, -1);
      }
      kept++;
    }
    if (kept > 0) this.#arriving = this.#arriving.slice(kept);
  }

  #count({ key }: Ticket, change: 1 | -1): void {
    this.#size += change;
    this.#ofKey.change(key, change);
  }

  #refusal(key: string, nowMs: number): ServiceError {
    for (const [other, untilMs] of this.#refusedUntilMs) {
      if (untilMs > nowMs) break;
      this.#refusedUntilMs.delete(other);
    }
    const retryAfterS = this.retryAfterS(key);
    const fromMs = Math.max(nowMs, this.#refusedUntilMs.get(key) ?? 0);
    const untilMs = Math.min(fromMs + this.#perRequestMs, nowMs + MAX_RETRY_AFTER_S * 1000);
    // At the end again, so that expired entries stand first.
    this.#refusedUntilMs.delete(key);
    this.#refusedUntilMs.set(key, untilMs);
    let refusal = this.#refusals.get(retryAfterS);
    if (refusal === undefined) {
      refusal = new ServiceError('OVERLOADED', { limit: `${this.#targetMs} ms of waiting`, retryAfterS });
      this.#refusals.set(retryAfterS, refusal);
    }
    return refusal;
  }
}
