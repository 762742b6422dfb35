// SPDX-License-Identifier: Apache-2.0
//
// This room decides whether the server accepts a request: permits, shares of memory and places, rate
// limits, and the expected wait. A refusal says when to try again.
import { ServiceError } from '../../base/errors/service-error.js';
import { type Holder, type Obstacle, SharedBudget, type SharePercents } from './shared-budget.js';

/** One permit that a request holds. */
export interface Permit {
  /**
   * Also counts it toward an account, known only now, and toward the file that is downloaded.
   * @throws ServiceError OVERLOADED
   */
  holdFor(account: string, file?: string): void;
  /** True while others want its permit. */
  isContended(): boolean;
  /** Call it once. */
  release(): void;
}

export interface PermitOptions {
  readonly percents?: SharePercents;
  /** The purpose of the permits, as the refusal names it. */
  readonly what?: string;
  /** Seconds after which a refused holder should come again; default 1. */
  readonly retryAfterS?: (holder: Holder) => number;
}

/**
 * A fixed number of permits for requests in flight: taken at the door or refused there, never waited for. One key,
 * account or address never holds more than its share.
 */
export class RequestPermits {
  readonly #budget: SharedBudget;
  readonly #what: string;
  readonly #retryAfterS: (holder: Holder) => number;
  #whenNoneInUse: (() => void) | undefined;

  constructor(
    limit: number,
    { percents = {}, what = 'requests in flight', retryAfterS }: PermitOptions = {},
  ) {
    this.#budget = new SharedBudget(limit, percents);
    this.#what = what;
    this.#retryAfterS = retryAfterS ?? (() => 1);
  }

  get inUse(): number {
    return this.#budget.inUse;
  }

  /** Whether `acquire` would succeed now. */
  hasRoom(holder: Holder): boolean {
    return this.#budget.obstacle(holder, 1) === undefined;
  }

  /** @throws ServiceError OVERLOADED; CONCURRENCY_LIMITED if a key has its share */
  acquire(holder: Holder): Permit {
    const budget = this.#budget;
    this.#refuseAt(budget.obstacle(holder, 1), holder);
    budget.take(holder, 1);
    let held = holder;
    return {
      holdFor: (account, file) => {
        // Its own permit is not in its way.
        budget.give(held, 1);
        const obstacle = budget.shareObstacle({ account, file }, 1);
        if (obstacle === undefined) held = { ...held, account, file };
        budget.take(held, 1);
        this.#refuseAt(obstacle, held);
      },
      // No getter: an object literal with one takes several microseconds to make.
      isContended: () => budget.isContended(held),
      release: () => {
        budget.give(held, 1);
        if (budget.inUse === 0) this.#whenNoneInUse?.();
      },
    };
  }

  /** Resolves once no permit is in use. */
  drained(): Promise<void> {
    if (this.inUse === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#whenNoneInUse = resolve;
    });
  }

  #refuseAt(obstacle: Obstacle | undefined, holder: Holder): void {
    if (obstacle === undefined) return;
    if (obstacle.kind === 'key') throw new ServiceError('CONCURRENCY_LIMITED', { limit: obstacle.held });
    const limit = this.#budget.limitAt(obstacle, this.#what);
    throw new ServiceError('OVERLOADED', { limit, retryAfterS: this.#retryAfterS(holder) });
  }
}
