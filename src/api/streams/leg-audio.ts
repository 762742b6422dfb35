// SPDX-License-Identifier: Apache-2.0
import { rounded } from '../../analysis/verdict/verdict.js';

/** Samples of G.711 at 8 kHz. */
const BYTES_PER_MS = 8;
/** Shorter gaps are ignored, unless a whole chunk is missing. */
const MAX_JITTER_MS = 20;
/** Audio that waits for an earlier chunk. */
const MAX_EARLY_MS = 200;
/** A window long, so that none has audio from before a gap and from after it. */
const MAX_SILENCE_MS = 5000;

/** G.711's code for the smallest amplitude. */
const silences = {
  mulaw: new Uint8Array(MAX_SILENCE_MS * BYTES_PER_MS).fill(0xff),
  alaw: new Uint8Array(MAX_SILENCE_MS * BYTES_PER_MS).fill(0xd5),
};

interface Chunk {
  readonly atMs: number;
  readonly bytes: Uint8Array;
}

/** Puts chunks of a leg in the order of their times, and silence in place of lost ones. */
export class LegAudio {
  readonly #push: (bytes: Uint8Array) => void;
  readonly #silence: Uint8Array;
  /** Sorted. */
  readonly #early: Chunk[] = [];
  #earlyBytes = 0;
  #pushedMs = 0;
  /** The end of what was pushed, in the call's time. */
  #nextMs: number | undefined;
  /** The call's time less that of the pushed audio, from a time of the latter on. */
  readonly #offsets: { readonly fromMs: number; readonly ms: number }[] = [];

  /** @param push may throw; the leg is over then */
  constructor(encoding: keyof typeof silences, push: (bytes: Uint8Array) => void) {
    this.#silence = silences[encoding];
    this.#push = push;
  }

  add(atMs: number, bytes: Uint8Array): void {
    if (this.#nextMs === undefined) this.#jumpTo(atMs);
    const index = this.#early.findLastIndex((chunk) => chunk.atMs <= atMs) + 1;
    if (this.#early[index - 1]?.atMs === atMs) return;
    this.#early.splice(index, 0, { atMs, bytes });
    this.#earlyBytes += bytes.length;
    const lastMs = this.#early.at(-1)?.atMs ?? 0;
    this.#release(
      () => lastMs - (this.#nextMs ?? 0) > MAX_EARLY_MS || this.#earlyBytes > MAX_EARLY_MS * BYTES_PER_MS,
    );
  }

  /** No further chunks follow. */
  flush(): void {
    this.#release(() => true);
  }

  /** The call's time of a time of the pushed audio. */
  startOf(pushedS: number): number {
    const offset = this.#offsets.findLast(({ fromMs }) => fromMs <= pushedS * 1000);
    return rounded(pushedS + (offset?.ms ?? 0) / 1000);
  }

  /** The same for the end of a window: a gap after it is not part of it. */
  endOf(pushedS: number): number {
    const offset = this.#offsets.findLast(({ fromMs }) => fromMs < pushedS * 1000);
    return rounded(pushedS + (offset?.ms ?? 0) / 1000);
  }

  /** Pushes chunks in their places, and others if `isLost` says that nothing will come before them. */
  #release(isLost: () => boolean): void {
    for (let first = this.#early[0]; first !== undefined; first = this.#early[0]) {
      const { atMs, bytes } = first;
      const lengthMs = bytes.length / BYTES_PER_MS;
      const gapMs = atMs - (this.#nextMs ?? 0);
      const isGap = gapMs >= Math.min(lengthMs, MAX_JITTER_MS);
      if (isGap && !isLost()) return;
      this.#early.shift();
      this.#earlyBytes -= bytes.length;
      if (gapMs <= -lengthMs) continue;
      if (isGap) this.#fill(gapMs);
      this.#append(bytes);
    }
  }

  #fill(gapMs: number): void {
    const atMs = (this.#nextMs ?? 0) + gapMs;
    this.#append(this.#silence.subarray(0, Math.round(gapMs * BYTES_PER_MS)));
    if (gapMs > MAX_SILENCE_MS) this.#jumpTo(atMs);
  }

  #append(bytes: Uint8Array): void {
    this.#push(bytes);
    this.#pushedMs += bytes.length / BYTES_PER_MS;
    this.#nextMs = (this.#nextMs ?? 0) + bytes.length / BYTES_PER_MS;
  }

  #jumpTo(atMs: number): void {
    this.#nextMs = atMs;
    this.#offsets.push({ fromMs: this.#pushedMs, ms: atMs - this.#pushedMs });
  }
}
