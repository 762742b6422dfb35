// SPDX-License-Identifier: Apache-2.0
import { WorkLost } from '../queue/job.js';
import { LEASE_MS } from '../queue/leases.js';

/** Many beats within a lease. */
export const HEARTBEAT_MS = 2000;
/** Operators are told of longer silence. */
const LATE_MS = LEASE_MS / 3;

/** For the log. */
export const LATE_LEASE = 'a lease was not renewed for long: another worker may have the work';

/** Told of the time since the last renewal if that is long: others may have taken the work. */
export type OnLate = (silentMs: number) => void;

/** Renews the lease of work as long as it takes, whatever it waits for; stops the work if another process took it over. */
export class LeaseRenewal {
  readonly #stop = new AbortController();
  readonly #timer: NodeJS.Timeout;
  readonly #onLate: OnLate;
  #renewedAtMs = performance.now();
  #failure: unknown;

  /** @param renew rejects with WorkLost if the work is in other hands */
  constructor(renew: () => Promise<void>, everyMs: number, onLate: OnLate = () => {}) {
    this.#onLate = onLate;
    let isBeating = false;
    this.#timer = setInterval(() => {
      if (isBeating) return;
      isBeating = true;
      renew()
        .then(() => this.#renewed())
        .catch((error) => {
          // A database that is gone for a while takes the lease away, and with it the work, if it takes too long.
          if (!(error instanceof WorkLost)) return;
          this.#failure = error;
          this.#stop.abort(error);
        })
        .finally(() => {
          isBeating = false;
        });
    }, everyMs);
  }

  /** Aborted with WorkLost. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** WorkLost once it is. */
  get failure(): unknown {
    return this.#failure;
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#renewed();
  }

  #renewed(): void {
    const silentMs = Math.round(performance.now() - this.#renewedAtMs);
    if (silentMs >= LATE_MS) this.#onLate(silentMs);
    this.#renewedAtMs += silentMs;
  }
}
