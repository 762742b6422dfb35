// SPDX-License-Identifier: Apache-2.0
//
// This room is memory shared by threads: the upload arena, the slots for model inputs, and words for
// signals. Bytes are handed over as offset and length, not copied.

/** A run of bytes in the upload arena. */
export interface ArenaRegion {
  readonly offset: number;
  readonly length: number;
}

/**
 * Tells the operating system that these bytes of the arena's memory are unused. Whole pages of the arena need not be whole
 * pages of memory: the implementation must round inwards.
 */
export type ReleasePages = (offset: number, length: number) => void;

interface FreeStretch {
  offset: number;
  length: number;
}

const PAGE_BYTES = 4096;
/** Giving back less than this is not worth the system call and the page faults that follow. */
const TRIM_MIN_BYTES = 1 << 20;
/** The low end stays resident: the next requests land there. */
const TRIM_KEEP_BYTES = 4 << 20;
const TRIM_IDLE_MS = 1000;
/** Between two trims for the sake of other memory. */
const LIMIT_PAUSE_MS = 250;

const wholePages = (bytes: number): number => Math.max(1, Math.ceil(bytes / PAGE_BYTES)) * PAGE_BYTES;

/**
 * The memory of all uploads in flight: one SharedArrayBuffer, handed to the prepare threads once, so that a file
 * reaches them as an offset and a length. Its size is the byte budget of the server.
 *
 * First fit over an address-ordered free list: low addresses are reused first, so that the resident size follows the use of the
 * arena and not its size.
 */
export class UploadArena {
  readonly buffer: SharedArrayBuffer;
  /** Every byte of the arena; regions are views of it. */
  readonly bytes: Uint8Array;
  readonly #free: FreeStretch[];
  readonly #releasePages: ReleasePages | undefined;
  #usedBytes = 0;
  /** Nothing beyond this was handed out since the last trim, so it holds no memory. */
  #touchedEnd = 0;
  #trimTimer: NodeJS.Timeout | undefined;
  #reservedSinceTimer = false;
  #limitedAtMs = Number.NEGATIVE_INFINITY;

  /** `totalBytes` is rounded up to whole pages. The offsets given to `releasePages` are relative to `buffer`. */
  constructor(totalBytes: number, releasePages?: ReleasePages) {
    this.buffer = new SharedArrayBuffer(wholePages(totalBytes));
    this.bytes = new Uint8Array(this.buffer);
    this.#free = [{ offset: 0, length: this.buffer.byteLength }];
    this.#releasePages = releasePages;
  }

  get totalBytes(): number {
    return this.buffer.byteLength;
  }

  /** Bytes handed out, in whole pages. */
  get usedBytes(): number {
    return this.#usedBytes;
  }

  get freeBytes(): number {
    return this.totalBytes - this.#usedBytes;
  }

  /** A region of that many bytes with whatever was in it before; undefined when no free stretch is long enough. */
  reserve(bytes: number): ArenaRegion | undefined {
    const needed = wholePages(bytes);
    const index = this.#free.findIndex((stretch) => stretch.length >= needed);
    const stretch = this.#free[index];
    if (stretch === undefined) return undefined;
    const { offset } = stretch;
    if (stretch.length === needed) {
      this.#free.splice(index, 1);
    } else {
      stretch.offset += needed;
      stretch.length -= needed;
    }
    this.#usedBytes += needed;
    this.#touchedEnd = Math.max(this.#touchedEnd, offset + needed);
    this.#reservedSinceTimer = true;
    return { offset, length: bytes };
  }

  /** Gives back the end of a region; the returned region replaces it. */
  shrink(region: ArenaRegion, bytes: number): ArenaRegion {
    const before = wholePages(region.length);
    const after = wholePages(bytes);
    if (after < before) this.#insert(region.offset + after, before - after);
    return { offset: region.offset, length: bytes };
  }

  /** Exactly once per region; throws when any of it is already free, because then two requests share memory. */
  release(region: ArenaRegion): void {
    this.#insert(region.offset, wholePages(region.length));
    this.#trimWhenIdle();
  }

  /** Gives the memory of free stretches back to the operating system. */
  trim(): void {
    if (this.#releasePages === undefined) return;
    for (const { offset, length } of this.#free) {
      const from = Math.max(offset, TRIM_KEEP_BYTES);
      const to = Math.min(offset + length, this.#touchedEnd);
      if (to - from >= TRIM_MIN_BYTES) this.#releasePages(from, to - from);
    }
    const last = this.#free.at(-1);
    const lastIsTail = last !== undefined && last.offset + last.length === this.totalBytes;
    const usedEnd = lastIsTail ? last.offset : this.totalBytes;
    this.#touchedEnd = Math.min(this.#touchedEnd, Math.max(usedEnd, TRIM_KEEP_BYTES));
  }

  /** Gives free pages back soon if the arena may hold more than this: other memory needs them, however busy the arena is. */
  limitResident(bytes: number): void {
    if (this.#touchedEnd <= bytes || performance.now() - this.#limitedAtMs < LIMIT_PAUSE_MS) return;
    this.#limitedAtMs = performance.now();
    this.trim();
  }

  #insert(offset: number, length: number): void {
    let low = 0;
    let high = this.#free.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#free[middle] as FreeStretch).offset < offset) low = middle + 1;
      else high = middle;
    }
    const before = this.#free[low - 1];
    const after = this.#free[low];
    const end = offset + length;
    if (
      end > this.totalBytes ||
      (before !== undefined && before.offset + before.length > offset) ||
      (after !== undefined && after.offset < end)
    ) {
      throw new Error(`The arena region at ${offset} was released twice. This is a bug.`);
    }
    const joinsBefore = before !== undefined && before.offset + before.length === offset;
    const joinsAfter = after !== undefined && after.offset === end;
    if (joinsBefore && joinsAfter) {
      before.length += length + after.length;
      this.#free.splice(low, 1);
    } else if (joinsBefore) {
      before.length += length;
    } else if (joinsAfter) {
      after.offset = offset;
      after.length += length;
    } else {
      this.#free.splice(low, 0, { offset, length });
    }
    this.#usedBytes -= length;
  }

  #trimWhenIdle(): void {
    if (this.#releasePages === undefined || this.#trimTimer !== undefined) return;
    if (this.#touchedEnd < TRIM_KEEP_BYTES + TRIM_MIN_BYTES) return;
    this.#reservedSinceTimer = false;
    this.#trimTimer = setTimeout(() => {
      this.#trimTimer = undefined;
      if (this.#reservedSinceTimer) this.#trimWhenIdle();
      else this.trim();
    }, TRIM_IDLE_MS);
    this.#trimTimer.unref();
  }
}
