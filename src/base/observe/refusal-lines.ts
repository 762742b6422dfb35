// SPDX-License-Identifier: Apache-2.0
import type { ErrorKey } from '../errors/catalogue.js';
import type { RequestRecord } from './request-record.js';

/** What a caller is told at the door as often as it asks. */
const refusals: ReadonlySet<ErrorKey | undefined> = new Set<ErrorKey>([
  'OVERLOADED',
  'CONCURRENCY_LIMITED',
  'RATE_LIMITED',
  'STOPPING',
]);

export const isRefusal = ({ errorKey }: Pick<RequestRecord, 'errorKey'>): boolean => refusals.has(errorKey);

const PERIOD_MS = 1000;

export interface RefusalLinesOptions {
  /** Lines about refusals of one key per second; of requests without a key, which are taken together, as many. */
  readonly maxPerS?: number;
  /** Told of each line that is left out. */
  readonly onLeftOut: () => void;
  /** Told once per second how many were, if any. */
  readonly onSum: (lines: number) => void;
}

/** Decides which refusals get a line in the log: under a flood, writing lines would be much of what a refusal costs. */
export class RefusalLines {
  readonly #options: Required<RefusalLinesOptions>;
  readonly #ofKey = new Map<string, number>();
  #leftOut = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: RefusalLinesOptions) {
    this.#options = { maxPerS: 10, ...options };
  }

  mayWrite(record: Pick<RequestRecord, 'keyId' | 'errorKey'>): boolean {
    if (!isRefusal(record)) return true;
    this.#timer ??= setTimeout(() => this.sumUp(), PERIOD_MS).unref();
    const { keyId = '' } = record;
    const lines = (this.#ofKey.get(keyId) ?? 0) + 1;
    this.#ofKey.set(keyId, lines);
    if (lines <= this.#options.maxPerS) return true;
    this.#leftOut++;
    this.#options.onLeftOut();
    return false;
  }

  /** Ends the second; to be called when the server stops. */
  sumUp(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#ofKey.clear();
    if (this.#leftOut > 0) this.#options.onSum(this.#leftOut);
    this.#leftOut = 0;
  }
}
