// SPDX-License-Identifier: Apache-2.0
import type { ReplyTexts } from '../../api/routes/route.js';

/** Then a stream of events ends, and a client that opens it again must be admitted again. */
const MAX_WATCH_MS = 60_000;

/** Texts that end after some time, or when the server stops. */
export class TimedTexts implements ReplyTexts {
  readonly #texts: ReplyTexts;
  readonly #stopping: AbortSignal;
  readonly #ending = new AbortController();
  readonly #timer: NodeJS.Timeout;

  /** @param open gets the signal that ends the texts */
  constructor(open: (ending: AbortSignal) => ReplyTexts, stopping: AbortSignal, maxMs = MAX_WATCH_MS) {
    this.#stopping = stopping;
    this.#timer = setTimeout(this.#end, maxMs);
    stopping.addEventListener('abort', this.#end);
    if (stopping.aborted) this.#end();
    this.#texts = open(this.#ending.signal);
  }

  next(): Promise<string | undefined> {
    return this.#texts.next();
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#stopping.removeEventListener('abort', this.#end);
    this.#texts.close();
  }

  readonly #end = (): void => this.#ending.abort();
}
