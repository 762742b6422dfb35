// SPDX-License-Identifier: Apache-2.0
import { atMost } from './at-most.js';
import type { Logger } from './observe/log.js';
import { once } from './once.js';

/** Nothing takes as long, unless it hangs. */
const LIMIT_MS = 10_000;

interface Closer {
  readonly name: string;
  readonly limitMs: number;
  close(): unknown;
}

/**
 * Closes parts in the reverse order of their opening: each once, within its time, and also if others fail. A part that comes
 * while they are closed is the next.
 */
export class Closers {
  /** Never rejects: an error goes to the log, so it cannot replace the one that ended a start. */
  readonly close = once(() => this.#closeAll());
  readonly #closers: Closer[] = [];
  readonly #log: Pick<Logger, 'error'>;

  constructor(log: Pick<Logger, 'error'>) {
    this.#log = log;
  }

  add(name: string, close: () => unknown, limitMs = LIMIT_MS): void {
    this.#closers.push({ name, close, limitMs });
  }

  /** A part that opens beside others: if one of these fails, it is closed as soon as it has opened. */
  opening<Part>(
    name: string,
    opening: Promise<Part>,
    close: (part: Part) => unknown = () => {},
    limitMs = LIMIT_MS,
  ): Promise<Part> {
    // Its error is for its opener.
    this.add(name, () => opening.then(close, () => {}), limitMs);
    return opening;
  }

  async #closeAll(): Promise<void> {
    for (let closer = this.#closers.pop(); closer !== undefined; closer = this.#closers.pop()) {
      const { name, limitMs } = closer;
      try {
        if (await atMost(limitMs, Promise.resolve(closer.close()))) continue;
        throw new Error(`It has not closed within ${limitMs} ms.`);
      } catch (error) {
        this.#log.error({ err: error, part: name }, 'a part of the server could not be closed');
      }
    }
  }
}
