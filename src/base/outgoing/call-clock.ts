// SPDX-License-Identifier: Apache-2.0
//
// This room holds the time limits of calls to other programs.
import type { ByteSource } from '../byte-source/byte-source.js';

export interface CallTimeouts {
  /** Between two signs of life: an address, a connection, the answer's head, more bytes. */
  readonly stallTimeoutMs: number;
  /** For everything, beside waiting for upload memory. */
  readonly totalTimeoutMs: number;
}

/** For work whose parts have limits of their own, or that shows no sign of life. */
export const totalOnly = (totalTimeoutMs: number): CallTimeouts => ({
  stallTimeoutMs: 2 * totalTimeoutMs,
  totalTimeoutMs,
});

/** Ends a call to another program that takes too long, or whose caller has gone. */
export class CallClock {
  readonly #timeouts: CallTimeouts;
  readonly #failure: (problem: string) => Error;
  readonly #abort = new AbortController();
  readonly #caller: AbortSignal | undefined;
  readonly #onCallerGone = (): void => this.#abort.abort(this.#caller?.reason);
  #stall: NodeJS.Timeout | undefined;
  #total: NodeJS.Timeout | undefined;

  /** @param failure the error of a call that takes too long */
  constructor(timeouts: CallTimeouts, failure: (problem: string) => Error, caller?: AbortSignal) {
    this.#timeouts = timeouts;
    this.#failure = failure;
    this.#caller = caller;
    if (caller?.aborted) this.#onCallerGone();
    else caller?.addEventListener('abort', this.#onCallerGone, { once: true });
    this.start();
  }

  /** Aborted with the error of the call. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Starts both limits, anew after `hold`. */
  start(): void {
    const { stallTimeoutMs, totalTimeoutMs } = this.#timeouts;
    this.#stall = this.#limit(stallTimeoutMs, `sent nothing for ${stallTimeoutMs} ms`);
    this.#total = this.#limit(totalTimeoutMs, `took longer than ${totalTimeoutMs} ms`);
  }

  /** The other side has shown a sign of life. */
  progress(): void {
    this.#stall?.refresh();
  }

  /** The other side works, and may show no sign of life: only the total limit goes on. */
  letWork(): void {
    clearTimeout(this.#stall);
    // A sign of life that still comes must not start the timer again.
    this.#stall = undefined;
  }

  /** For a time in which the other side waits for us. */
  hold(): void {
    this.letWork();
    clearTimeout(this.#total);
  }

  /** Call it when the call is over. */
  stop(): void {
    this.hold();
    this.#caller?.removeEventListener('abort', this.#onCallerGone);
  }

  #limit(timeoutMs: number, problem: string): NodeJS.Timeout {
    return setTimeout(() => this.#abort.abort(this.#failure(problem)), timeoutMs);
  }
}

/** Rejects with the reason of the signal once it is aborted, however long the work goes on, whose end is then ignored. */
export function orAborted<Result>(signal: AbortSignal, work: Promise<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

/** Rejects with the reason of the signal once it is aborted, however long the opening takes. */
export async function openedInTime<Source extends ByteSource | undefined>(
  signal: AbortSignal,
  opening: Promise<Source>,
): Promise<Source> {
  try {
    return await orAborted(signal, opening);
  } catch (error) {
    // A source that still opens has lost its reader.
    void opening.then((source) => source?.close()).catch(() => {});
    throw error;
  }
}
