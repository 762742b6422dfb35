// SPDX-License-Identifier: Apache-2.0
import type { ByteSource } from './byte-source.js';

/** The largest recording of a job comes within half a day at this pace. */
const MIN_BYTES_PER_S = 128 * 1024;
/** Of waiting, over which the pace is measured. */
const PACE_OVER_S = 120;
const TICK_MS = 1000;

export interface Pace {
  /** The error of failed reads. */
  readonly failure: (problem: string) => Error;
  /** Asked every second while the source is waited for: whether the time for that is over. */
  readonly mustEnd: () => boolean;
  /** By default the two above. */
  readonly minBytesPerS?: number;
  readonly overS?: number;
  readonly clockMs?: () => number;
}

/** A file with a minimum pace. Only time counts in which a reader waits for it. */
export class PacedSource implements ByteSource {
  readonly #source: ByteSource;
  readonly #pace: Required<Pace>;
  readonly #tooSlow = new AbortController();
  #signals: [given: AbortSignal, ends: AbortSignal] | undefined;
  #timer: NodeJS.Timeout | undefined;
  #reads = 0;
  #wantedBytes = 0;
  /** Since when a reader waits. */
  #sinceMs = 0;
  /** Of this stretch of time: waited before that, and received. */
  #waitedMs = 0;
  #bytes = 0;

  constructor(source: ByteSource, pace: Pace) {
    this.#source = source;
    this.#pace = {
      minBytesPerS: MIN_BYTES_PER_S,
      overS: PACE_OVER_S,
      clockMs: () => performance.now(),
      ...pace,
    };
  }

  get bytes(): number {
    return this.#source.bytes;
  }

  get identity(): string {
    return this.#source.identity;
  }

  async read(into: Uint8Array, offset: number, signal: AbortSignal): Promise<void> {
    const ends = this.#endsOf(signal);
    ends.throwIfAborted();
    this.#begin(into.length);
    try {
      await this.#source.read(into, offset, ends);
      this.#bytes += into.length;
    } finally {
      this.#end(into.length);
    }
  }

  close(): Promise<void> {
    clearInterval(this.#timer);
    return this.#source.close();
  }

  /** One for all reads with the same signal: there are thousands. */
  #endsOf(signal: AbortSignal): AbortSignal {
    if (this.#signals?.[0] !== signal)
      this.#signals = [signal, AbortSignal.any([signal, this.#tooSlow.signal])];
    return this.#signals[1];
  }

  #begin(bytes: number): void {
    this.#wantedBytes += bytes;
    if (this.#reads++ > 0) return;
    this.#sinceMs = this.#pace.clockMs();
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
  }

  #end(bytes: number): void {
    this.#measure();
    this.#wantedBytes -= bytes;
    if (--this.#reads > 0) return;
    this.#waitedMs += this.#pace.clockMs() - this.#sinceMs;
    clearInterval(this.#timer);
  }

  #tick(): void {
    const { mustEnd, failure } = this.#pace;
    if (mustEnd()) this.#tooSlow.abort(failure('sends so slowly that others would wait too long'));
    else this.#measure();
  }

  #measure(): void {
    const { minBytesPerS, overS, clockMs, failure } = this.#pace;
    const nowMs = clockMs();
    if (this.#waitedMs + nowMs - this.#sinceMs < 1000 * overS) return;
    // Reads under way count in full: they may lack only their end.
    if (this.#bytes + this.#wantedBytes < minBytesPerS * overS) {
      this.#tooSlow.abort(failure(`sent less than ${minBytesPerS} bytes/s for ${overS} s`));
      return;
    }
    this.#sinceMs = nowMs;
    this.#waitedMs = this.#bytes = 0;
  }
}
