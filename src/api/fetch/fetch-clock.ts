// SPDX-License-Identifier: Apache-2.0
import { ServiceError } from '../../base/errors/service-error.js';

export interface FetchTimeouts {
  /** Between two signs of life: an address, a connection, the answer's head, more bytes. */
  readonly stallTimeoutMs: number;
  /** For everything, beside waiting for upload memory. */
  readonly totalTimeoutMs: number;
}

/** Ends a fetch that takes too long, or whose client has gone. */
export class FetchClock {
  readonly #timeouts: FetchTimeouts;
  readonly #abort = new AbortController();
  readonly #client: AbortSignal;
  readonly #onClientGone = (): void => this.#abort.abort(this.#client.reason);
  #stall: NodeJS.Timeout | undefined;
  #total: NodeJS.Timeout | undefined;

  constructor(timeouts: FetchTimeouts, client: AbortSignal) {
    this.#timeouts = timeouts;
    this.#client = client;
    if (client.aborted) this.#onClientGone();
    else client.addEventListener('abort', this.#onClientGone, { once: true });
    this.start();
  }

  /** Aborted with what the fetch has to fail with. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Starts both limits, anew after `hold`. */
  start(): void {
    const { stallTimeoutMs, totalTimeoutMs } = this.#timeouts;
    this.#stall = this.#limit(stallTimeoutMs, `sent nothing for ${stallTimeoutMs} ms`);
    this.#total = this.#limit(totalTimeoutMs, `did not send the file within ${totalTimeoutMs} ms`);
  }

  /** The storage has shown a sign of life. */
  progress(): void {
    this.#stall?.refresh();
  }

  /** While it is we who let the storage wait. */
  hold(): void {
    clearTimeout(this.#stall);
    clearTimeout(this.#total);
    // A sign of life that still comes must not start the timer again.
    this.#stall = undefined;
  }

  /** To be called when the fetch is over. */
  stop(): void {
    this.hold();
    this.#client.removeEventListener('abort', this.#onClientGone);
  }

  #limit(timeoutMs: number, problem: string): NodeJS.Timeout {
    return setTimeout(() => this.#abort.abort(new ServiceError('FETCH_TIMEOUT', { problem })), timeoutMs);
  }
}
