// SPDX-License-Identifier: Apache-2.0
import type { InFlightElsewhere } from '../../api/admission/key-concurrency.js';
import { limitOf, type RateCounter, type RateState } from '../../api/admission/rate-limits.js';
import type { RateLimit } from '../../state/keys/api-key.js';
import type { AuthenticatedKey } from '../../state/keys/authenticator.js';
import type { ParentLink } from './parent-link.js';

/** Counts against rates in the supervisor, so that a key's rate holds over all processes. */
export class SharedRates implements RateCounter {
  readonly #byDefault: RateLimit;
  readonly #parent: ParentLink;

  constructor(byDefault: RateLimit, parent: ParentLink) {
    this.#byDefault = byDefault;
    this.#parent = parent;
  }

  count(key: Pick<AuthenticatedKey, 'id' | 'rate'>): Promise<RateState> | undefined {
    const limit = limitOf(key, this.#byDefault);
    return limit && this.#parent.countRate(key.id, limit);
  }
}

/** The supervisor's figures about the other processes. */
export class SharedInFlight implements InFlightElsewhere {
  readonly #parent: ParentLink;

  constructor(parent: ParentLink) {
    this.#parent = parent;
  }

  of(keyId: string): number {
    return this.#parent.inFlightElsewhere.get(keyId) ?? 0;
  }

  tell(keyId: string, inFlight: number): void {
    this.#parent.tellInFlight(keyId, inFlight);
  }
}
