// SPDX-License-Identifier: Apache-2.0
import { ServiceError } from '../../base/errors/service-error.js';
import { type Holder, SharedBudget, type SharePercents } from './shared-budget.js';

/** A budget of bytes for one kind of request, with shares: taken at the door or refused there, never waited for. */
export class BytePermits {
  readonly #budget: SharedBudget;
  readonly #what: string;

  /** @param what the noun for the bytes in the refusal */
  constructor(limitBytes: number, what: string, percents: SharePercents) {
    this.#budget = new SharedBudget(limitBytes, percents);
    this.#what = what;
  }

  /**
   * Returns how to give the bytes back, once.
   * @throws ServiceError OVERLOADED
   */
  acquire(holder: Holder, bytes: number): () => void {
    const obstacle = this.#budget.obstacle(holder, bytes);
    if (obstacle !== undefined) {
      throw new ServiceError('OVERLOADED', {
        limit: this.#budget.limitAt(obstacle, `bytes of ${this.#what}`),
      });
    }
    this.#budget.take(holder, bytes);
    return () => this.#budget.give(holder, bytes);
  }
}
