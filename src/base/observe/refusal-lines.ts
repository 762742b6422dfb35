// SPDX-License-Identifier: Apache-2.0
import type { ErrorKey } from '../errors/catalogue.js';
import type { RequestRecord } from './request-record.js';

/** Refusals at the front door, which clients can repeat at will. */
const refusals: ReadonlySet<ErrorKey | undefined> = new Set<ErrorKey>([
  'OVERLOADED',
  'CONCURRENCY_LIMITED',
  'RATE_LIMITED',
  'STOPPING',
]);

export const isRefusal = ({ errorKey }: Pick<RequestRecord, 'errorKey'>): boolean => refusals.has(errorKey);

const PERIOD_MS = 1000;

export interface RefusalLinesOptions {
  /** Lines per second about refusals of one key; the same for all requests without a key together. */
  readonly maxPerS?: number;
  /** Called with the number of omitted lines. */
  readonly onLeftOut: (lines: number) => void;
  /** Called once per second with their number, if any. */
  readonly onSum: (lines: number) => void;
}

/** Decides which refusals get a log line: in a flood, the lines would cost as much as the refusals. */
export class RefusalLines {
  readonly #options: Required<RefusalLinesOptions>;
  readonly #ofKey = new Map<string, number>();
  #leftOut = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: RefusalLinesOptions) {
    this.#options = { maxPerS: 10, ...options };
  }

  mayWrite(record: Pick<RequestRecord, 'keyId' | 'errorKey' | 'times'>): boolean {
    if (!isRefusal(record)) return true;
    this.#timer ??= setTimeout(() => this.sumUp(), PERIOD_MS).unref();
    const { keyId = '', times } = record;
    if (times === undefined) {
      const lines = (this.#ofKey.get(keyId) ?? 0) + 1;
      this.#ofKey.set(keyId, lines);
      if (lines <= this.#options.maxPerS) return true;
    }
    this.#leftOut += times ?? 1;
    this.#options.onLeftOut(times ?? 1);
    return false;
  }

  /** Ends the second; call it when the server stops. */
  sumUp(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#ofKey.clear();
    if (this.#leftOut > 0) this.#options.onSum(this.#leftOut);
    this.#leftOut = 0;
  }
}
