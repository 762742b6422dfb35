// SPDX-License-Identifier: Apache-2.0
import { SharedWords } from '../memory/shared-words.js';

const HEADER_BYTES = 64;
const stateWord = 0;
const idle = 0;
const wanted = 1;
const filled = 2;
const failed = 3;

/** One range of a file on its way from the main thread to a prepare thread, which waits for it. */
export class RangeMailbox extends SharedWords {
  static create(maxRangeBytes: number): RangeMailbox {
    return new RangeMailbox(new SharedArrayBuffer(HEADER_BYTES + maxRangeBytes));
  }

  get maxRangeBytes(): number {
    return this.shared.byteLength - HEADER_BYTES;
  }

  /** By the prepare thread, before it tells the main thread which range it wants. */
  open(): void {
    Atomics.store(this.words, stateWord, wanted);
  }

  /** Blocks the thread until the main thread has filled the mailbox, or has given up. Undefined if there is no range. */
  take(length: number): Uint8Array | undefined {
    Atomics.wait(this.words, stateWord, wanted);
    const state = Atomics.exchange(this.words, stateWord, idle);
    return state === filled ? this.#range(length) : undefined;
  }

  /** By the main thread, if the range is still wanted. */
  fill(bytes: Uint8Array): void {
    if (Atomics.load(this.words, stateWord) !== wanted) return;
    this.#range(bytes.length).set(bytes);
    this.#settle(filled);
  }

  fail(): void {
    this.#settle(failed);
  }

  #settle(state: number): void {
    Atomics.compareExchange(this.words, stateWord, wanted, state);
    Atomics.notify(this.words, stateWord);
  }

  #range(length: number): Uint8Array {
    return new Uint8Array(this.shared, HEADER_BYTES, length);
  }
}
