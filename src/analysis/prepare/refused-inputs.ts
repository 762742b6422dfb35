// SPDX-License-Identifier: Apache-2.0
import { SharedWords } from '../memory/shared-words.js';

const DIGEST_BYTES = 32;
const WORDS_PER_DIGEST = DIGEST_BYTES / Int32Array.BYTES_PER_ELEMENT;
const COUNT_INDEX = 0;

/** SHA-256 digests of inputs that prepare threads refuse, in memory that all of them see. Grows, never shrinks. */
export class RefusedInputs extends SharedWords {
  static create(capacity: number): RefusedInputs {
    return new RefusedInputs(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT + capacity * DIGEST_BYTES));
  }

  get size(): number {
    return Atomics.load(this.words, COUNT_INDEX);
  }

  /** By one thread only. Without effect once the memory is full, or if the digest is there. */
  add(digest: Uint8Array): void {
    const count = this.size;
    const start = 1 + count * WORDS_PER_DIGEST;
    if (this.has(digest) || start + WORDS_PER_DIGEST > this.words.length) return;
    this.words.set(wordsOf(digest), start);
    // Last, so that nobody sees a digest that is not whole.
    Atomics.store(this.words, COUNT_INDEX, count + 1);
  }

  has(digest: Uint8Array): boolean {
    const count = this.size;
    if (count === 0) return false;
    const wanted = wordsOf(digest);
    for (let i = 0; i < count; i++) {
      const start = 1 + i * WORDS_PER_DIGEST;
      if (wanted.every((word, j) => this.words[start + j] === word)) return true;
    }
    return false;
  }
}

function wordsOf(digest: Uint8Array): Int32Array {
  if (digest.length !== DIGEST_BYTES) throw new Error('A digest has 32 bytes. This is a bug.');
  return new Int32Array(new Uint8Array(digest).buffer);
}
