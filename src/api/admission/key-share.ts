// SPDX-License-Identifier: Apache-2.0
import type { RateLimit } from '../../state/keys/api-key.js';
import type { RateGrant, RateQuestion } from '../../state/rates/rate-windows.js';
import type { RateState } from './rate-limits.js';

/** Granted requests of a key that nobody sends are given back after this time. */
export const IDLE_MS = 250;

/** This host's share of one key and limit. Times are those of `performance.now()`. */
export class KeyShare {
  readonly #keyId: string;
  readonly #limit: RateLimit;
  /** Requests asked for in advance, which other hosts then lack. None of a small limit. */
  readonly #lease: number;
  /** This many are accepted before anybody was asked. */
  readonly #credit: number;
  readonly #waiting: ((state: RateState) => void)[] = [];
  /** The database's name of the window; 0 if it has not told of one yet. */
  #window = 0;
  #endsAtMs = 0;
  /** Granted, and not used yet. */
  #left = 0;
  /** Accepted without a grant, and not told yet. */
  #untold = 0;
  /** Of these, requests being told. */
  #telling = 0;
  /** On all hosts, as the database last said. */
  #taken = 0;
  #isUsedUp = false;
  /** Then the rest of this window must be granted first. */
  #wasUsedUp = false;
  #askedAtMs = 0;
  #usedAtMs = 0;

  constructor(keyId: string, limit: RateLimit) {
    this.#keyId = keyId;
    this.#limit = { requests: limit.requests, windowS: limit.windowS };
    this.#lease = Math.floor(limit.requests / 50);
    this.#credit = Math.round(limit.requests / 100);
  }

  /**
   * Counts one request.
   * @param isAlone whether the database cannot be asked: then this host counts for itself
   * @returns undefined if the database must answer first
   */
  take(nowMs: number, isAlone: boolean): RateState | undefined {
    if (nowMs >= this.#endsAtMs) this.#begin(nowMs);
    this.#usedAtMs = nowMs;
    if (this.#left > 0) {
      this.#left--;
      return this.#state(nowMs, false);
    }
    if (isAlone ? this.#taken + this.#unknown < this.#limit.requests : this.#hasCredit()) {
      this.#untold++;
      return this.#state(nowMs, false);
    }
    return isAlone || this.#isUsedUp ? this.#state(nowMs, true) : undefined;
  }

  /** Call it after `take` returned undefined. */
  wait(): Promise<RateState> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  /** Whether the database should be told or asked something. */
  wantsToAsk(nowMs: number): boolean {
    if (this.#untold > 0 || this.#waiting.length > 0) return true;
    if (nowMs >= this.#endsAtMs || this.#lease === 0) return false;
    if (this.#isIdle(nowMs)) return this.#left > 0;
    // Requests that other hosts give back may become available.
    if (this.#isUsedUp) return nowMs >= this.#askedAtMs + IDLE_MS;
    return 2 * this.#left <= this.#lease;
  }

  /** True if it may be dropped without loss. */
  isOver(nowMs: number): boolean {
    return nowMs >= this.#endsAtMs && this.#unknown === 0 && this.#waiting.length === 0;
  }

  question(nowMs: number): RateQuestion {
    const isIdle = this.#isIdle(nowMs);
    const givenBack = isIdle ? this.#left : 0;
    const wanted = isIdle ? 0 : Math.max(0, this.#lease + this.#waiting.length - this.#left);
    const used = this.#untold - givenBack;
    this.#left -= givenBack;
    this.#telling = this.#untold;
    this.#untold = 0;
    this.#askedAtMs = nowMs;
    return { keyId: this.#keyId, ...this.#limit, window: this.#window, used, wanted };
  }

  answered(nowMs: number, { window, leftMs, granted, taken }: RateGrant, wanted: number): void {
    this.#telling = 0;
    if (window !== this.#window) this.#left = 0;
    this.#window = window;
    this.#endsAtMs = nowMs + leftMs;
    this.#left += granted;
    this.#taken = taken;
    if (wanted > 0) this.#isUsedUp = granted < wanted;
    this.#wasUsedUp ||= this.#isUsedUp;
    this.#serveWaiting(nowMs, false);
  }

  /** The database did not answer, or not in time. */
  failed(nowMs: number): void {
    this.#untold += this.#telling;
    this.#telling = 0;
    this.decide(nowMs);
  }

  /** Counts waiting requests without the database. */
  decide(nowMs: number): void {
    this.#serveWaiting(nowMs, true);
  }

  get #unknown(): number {
    return this.#untold + this.#telling;
  }

  #hasCredit(): boolean {
    return !this.#wasUsedUp && this.#unknown < this.#credit;
  }

  #isIdle(nowMs: number): boolean {
    return this.#waiting.length === 0 && nowMs >= this.#usedAtMs + IDLE_MS;
  }

  #begin(nowMs: number): void {
    this.#window = 0;
    this.#endsAtMs = nowMs + this.#limit.windowS * 1000;
    this.#left = 0;
    this.#untold = 0;
    this.#telling = 0;
    this.#taken = 0;
    this.#isUsedUp = false;
    this.#wasUsedUp = false;
  }

  #serveWaiting(nowMs: number, isAlone: boolean): void {
    const waiting = this.#waiting.splice(0);
    for (const [i, resolve] of waiting.entries()) {
      const state = this.take(nowMs, isAlone);
      if (state === undefined) {
        this.#waiting.push(...waiting.slice(i));
        return;
      }
      resolve(state);
    }
  }

  #state(nowMs: number, isExceeded: boolean): RateState {
    const { requests } = this.#limit;
    return {
      ...this.#limit,
      remaining: isExceeded ? 0 : Math.max(0, requests - this.#taken - this.#unknown + this.#left),
      isExceeded,
      resetsAtMs: Date.now() + Math.max(0, this.#endsAtMs - nowMs),
    };
  }
}
