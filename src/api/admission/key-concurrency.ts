// SPDX-License-Identifier: Apache-2.0
import { Counts } from '../../base/counts.js';
import { ServiceError } from '../../base/errors/service-error.js';
import type { AuthenticatedKey } from '../../state/keys/authenticator.js';

/** Requests in flight in other processes of the same server. */
export interface InFlightElsewhere {
  of(keyId: string): number;
  /** Tells them how many requests of the key are in flight here. */
  tell(keyId: string, inFlight: number): void;
}

/** Counts the requests of each key that are in flight. */
export class KeyConcurrency {
  readonly #limitByDefault: number;
  readonly #elsewhere: InFlightElsewhere | undefined;
  readonly #inFlight = new Counts();
  /** Keys with a limit of their own, of which other processes must know. */
  readonly #told = new Set<string>();

  /**
   * @param limitByDefault for keys that have none of their own; 0 sets no limit. Counts here alone
   * @param elsewhere counts for keys with a limit of their own, a moment late: as many requests as there are processes can
   * arrive at the same time and pass if one is left
   */
  constructor(limitByDefault: number, elsewhere?: InFlightElsewhere) {
    this.#limitByDefault = limitByDefault;
    this.#elsewhere = elsewhere;
  }

  inFlight(keyId: string): number {
    return this.#inFlight.of(keyId);
  }

  hasRoom(key: AuthenticatedKey): boolean {
    const limit = this.#limitOf(key);
    const elsewhere = key.concurrency === undefined ? 0 : (this.#elsewhere?.of(key.id) ?? 0);
    return limit === 0 || this.inFlight(key.id) + elsewhere < limit;
  }

  /** @throws ServiceError CONCURRENCY_LIMITED */
  enter(key: AuthenticatedKey): void {
    if (!this.hasRoom(key)) throw new ServiceError('CONCURRENCY_LIMITED', { limit: this.#limitOf(key) });
    // Also counted without a limit: a key may get one while it has requests in flight.
    this.#inFlight.change(key.id, 1);
    if (key.concurrency !== undefined) this.#told.add(key.id);
    this.#tell(key.id);
  }

  leave(keyId: string): void {
    const inFlight = this.#inFlight.change(keyId, -1);
    this.#tell(keyId);
    if (inFlight === 0) this.#told.delete(keyId);
  }

  #limitOf(key: AuthenticatedKey): number {
    return key.concurrency ?? this.#limitByDefault;
  }

  #tell(keyId: string): void {
    if (this.#told.has(keyId)) this.#elsewhere?.tell(keyId, this.inFlight(keyId));
  }
}
