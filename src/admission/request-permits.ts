// SPDX-License-Identifier: Apache-2.0
import { ServiceError } from '../errors/service-error.js';

/** A fixed number of permits for requests in flight: taken at the door or refused there, never waited for. */
export class RequestPermits {
  readonly #limit: number;
  #inUse = 0;
  #whenNoneInUse: (() => void) | undefined;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get inUse(): number {
    return this.#inUse;
  }

  /** @throws ServiceError OVERLOADED */
  acquire(): void {
    if (this.#inUse >= this.#limit)
      throw new ServiceError('OVERLOADED', { limit: `${this.#limit} requests in flight` });
    this.#inUse++;
  }

  release(): void {
    this.#inUse--;
    if (this.#inUse === 0) this.#whenNoneInUse?.();
  }

  /** Resolves once no permit is in use. */
  drained(): Promise<void> {
    if (this.#inUse === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#whenNoneInUse = resolve;
    });
  }
}
