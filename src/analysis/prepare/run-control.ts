// SPDX-License-Identifier: Apache-2.0
import { SharedWords } from '../memory/shared-words.js';

const wordsPerRun = 2;
const stopWord = 0;
const pendingWord = 1;

/**
 * Two words of shared memory per analysis that a prepare thread works on: a stop flag (read by the native code)
 * and the number of its inputs that are not scored yet, by which one long file is kept from filling every slot.
 */
export class RunControl extends SharedWords {
  static create(runs: number): RunControl {
    return new RunControl(new SharedArrayBuffer(runs * wordsPerRun * Int32Array.BYTES_PER_ELEMENT));
  }

  reset(run: number): void {
    Atomics.store(this.words, run * wordsPerRun + stopWord, 0);
    Atomics.store(this.words, run * wordsPerRun + pendingWord, 0);
  }

  /** One element, for the native code to poll. */
  stopFlag(run: number): Int32Array {
    return this.words.subarray(run * wordsPerRun + stopWord, run * wordsPerRun + stopWord + 1);
  }

  stop(run: number): void {
    Atomics.store(this.words, run * wordsPerRun + stopWord, 1);
    Atomics.notify(this.words, run * wordsPerRun + pendingWord);
  }

  isStopped(run: number): boolean {
    return Atomics.load(this.words, run * wordsPerRun + stopWord) !== 0;
  }

  addPending(run: number): void {
    Atomics.add(this.words, run * wordsPerRun + pendingWord, 1);
  }

  removePending(run: number): void {
    Atomics.sub(this.words, run * wordsPerRun + pendingWord, 1);
    Atomics.notify(this.words, run * wordsPerRun + pendingWord);
  }

  /** Blocks the thread until fewer than `limit` inputs are pending; false after `timeoutMs`. */
  waitForRoom(run: number, limit: number, timeoutMs: number): boolean {
    const index = run * wordsPerRun + pendingWord;
    const pending = Atomics.load(this.words, index);
    if (pending < limit) return true;
    Atomics.wait(this.words, index, pending, timeoutMs);
    return Atomics.load(this.words, index) < limit;
  }
}
