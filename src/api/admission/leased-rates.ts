// SPDX-License-Identifier: Apache-2.0
import type { RateLimit } from '../../state/keys/api-key.js';
import type { AuthenticatedKey } from '../../state/keys/authenticator.js';
import type { RateQuestion, RateWindows } from '../../state/rates/rate-windows.js';
import { IDLE_MS, KeyShare } from './key-share.js';
import { limitOf, type RateCounter, type RateState } from './rate-limits.js';

export interface LeasedRatesOptions {
  /** Told when the database does not answer, so that this host counts for itself, and with nothing when it answers again. */
  readonly onAlone?: (error: unknown) => void;
}

/** Time that requests wait for the database; then this host counts for itself. */
const PATIENCE_MS = 500;
const RETRY_MS = 1000;
const MAX_QUESTIONS = 1000;

/**
 * Counts requests against rates that hold over all hosts of a database. Each host has a small share of every limit in advance,
 * and takes more of it before that is used up: a request waits for the database only if nothing is left of the share.
 */
export class LeasedRates implements RateCounter {
  readonly #windows: Pick<RateWindows, 'take'>;
  readonly #byDefault: RateLimit;
  readonly #onAlone: (error: unknown) => void;
  readonly #shares = new Map<string, KeyShare>();
  /** Shares with a question for the database. */
  readonly #asking = new Set<string>();
  readonly #timer: NodeJS.Timeout;
  #exchange: Promise<void> | undefined;
  #isAlone = false;
  #nextAtMs = 0;

  constructor(
    windows: Pick<RateWindows, 'take'>,
    byDefault: RateLimit,
    { onAlone = () => {} }: LeasedRatesOptions = {},
  ) {
    this.#windows = windows;
    this.#byDefault = byDefault;
    this.#onAlone = onAlone;
    this.#timer = setInterval(() => this.#look(), IDLE_MS);
    this.#timer.unref();
  }

  count(key: Pick<AuthenticatedKey, 'id' | 'rate'>): Promise<RateState> | undefined {
    const limit = limitOf(key, this.#byDefault);
    return limit && this.#count(key.id, limit);
  }

  /** Gives grants back. Call it when no more requests come, before the database is closed. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#asking.clear();
    await this.#exchange;
    if (this.#isAlone) return;
    // So late that every share is idle.
    const nowMs = performance.now() + IDLE_MS;
    const questions = [...this.#shares.values()]
      .filter((share) => share.wantsToAsk(nowMs))
      .map((share) => share.question(nowMs));
    // Grants that are not given back in time are missing until the window ends.
    if (questions.length > 0) await this.#windows.take(questions).catch(() => {});
  }

  #count(keyId: string, limit: RateLimit): Promise<RateState> {
    const name = nameOf(keyId, limit);
    const share = this.#shares.get(name) ?? new KeyShare(keyId, limit);
    this.#shares.set(name, share);
    const nowMs = performance.now();
    const state = share.take(nowMs, this.#isAlone);
    const counting = state === undefined ? share.wait() : Promise.resolve(state);
    if (share.wantsToAsk(nowMs)) this.#ask(name);
    return counting;
  }

  #look(): void {
    const nowMs = performance.now();
    for (const [name, share] of this.#shares) {
      if (share.wantsToAsk(nowMs)) this.#ask(name);
      else if (share.isOver(nowMs)) this.#shares.delete(name);
    }
    // Alone, it also finds out whether the database answers again.
    if (this.#asking.size > 0 || this.#isAlone) this.#start();
  }

  #ask(name: string): void {
    this.#asking.add(name);
    this.#start();
  }

  /** One exchange runs at a time; questions that arrive meanwhile go with the next, all keys together. */
  #start(): void {
    if (this.#exchange !== undefined || performance.now() < this.#nextAtMs) return;
    this.#exchange = this.#talk().finally(() => {
      this.#exchange = undefined;
      if (this.#asking.size > 0) this.#start();
    });
  }

  async #talk(): Promise<void> {
    // The requests of one turn of the event loop together.
    await new Promise((resolve) => setImmediate(resolve));
    const asked = new Map<string, { share: KeyShare; question: RateQuestion }>();
    for (const name of [...this.#asking].slice(0, MAX_QUESTIONS)) {
      this.#asking.delete(name);
      const share = this.#shares.get(name);
      if (share !== undefined) asked.set(name, { share, question: share.question(performance.now()) });
    }
    if (asked.size === 0 && !this.#isAlone) return;
    const patience = setTimeout(
      () => this.#goAlone(new Error(`The database has not answered within ${PATIENCE_MS} ms.`)),
      PATIENCE_MS,
    );
    try {
      const grants = await this.#windows.take([...asked.values()].map(({ question }) => question));
      const nowMs = performance.now();
      if (this.#isAlone) this.#onAlone(undefined);
      this.#isAlone = false;
      for (const grant of grants) {
        const name = nameOf(grant.keyId, grant);
        const { share, question } = asked.get(name) ?? {};
        share?.answered(nowMs, grant, question?.wanted ?? 0);
        if (share?.wantsToAsk(nowMs)) this.#asking.add(name);
      }
    } catch (error) {
      this.#nextAtMs = performance.now() + RETRY_MS;
      this.#goAlone(error);
      for (const { share } of asked.values()) share.failed(performance.now());
    } finally {
      clearTimeout(patience);
    }
  }

  #goAlone(error: unknown): void {
    if (!this.#isAlone) this.#onAlone(error);
    this.#isAlone = true;
    for (const share of this.#shares.values()) share.decide(performance.now());
  }
}

const nameOf = (keyId: string, { requests, windowS }: RateLimit): string => `${keyId} ${requests}/${windowS}`;
