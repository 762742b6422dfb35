// SPDX-License-Identifier: Apache-2.0
import { ServiceError } from '../errors/service-error.js';
import type { AuthenticatedKey } from './authenticator.js';

/** Counts the requests of each key that are in flight. */
export class KeyConcurrency {
  readonly #limitByDefault: number;
  readonly #inFlight = new Map<string, number>();

  /** @param limitByDefault for keys that have none of their own; 0 sets no limit */
  constructor(limitByDefault: number) {
    this.#limitByDefault = limitByDefault;
  }

  inFlight(keyId: string): number {
    return this.#inFlight.get(keyId) ?? 0;
  }

  /** @throws ServiceError CONCURRENCY_LIMITED */
  enter(key: AuthenticatedKey): void {
    // Counted without a limit, too: a key may get one while it has requests in flight.
    const inFlight = this.inFlight(key.id);
    const limit = key.concurrency ?? this.#limitByDefault;
    if (limit !== 0 && inFlight >= limit) throw new ServiceError('CONCURRENCY_LIMITED', { limit });
    this.#inFlight.set(key.id, inFlight + 1);
  }

  leave(keyId: string): void {
    const inFlight = this.inFlight(keyId) - 1;
    if (inFlight === 0) this.#inFlight.delete(keyId);
    else this.#inFlight.set(keyId, inFlight);
  }
}
