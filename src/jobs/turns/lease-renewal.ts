// SPDX-License-Identifier: Apache-2.0
import { WorkLost } from '../queue/job.js';

/** Several beats within a lease. */
export const HEARTBEAT_MS = 2000;

/** Renews the lease of work as long as it takes, whatever it waits for; stops the work if another process took it over. */
export class LeaseRenewal {
  readonly #stop = new AbortController();
  readonly #timer: NodeJS.Timeout;
  #failure: unknown;

  /** @param renew rejects with WorkLost if the work is in other hands */
  constructor(renew: () => Promise<void>, everyMs: number) {
    let isBeating = false;
    this.#timer = setInterval(() => {
      if (isBeating) return;
      isBeating = true;
      renew()
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
  }
}
