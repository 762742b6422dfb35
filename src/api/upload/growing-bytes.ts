// SPDX-License-Identifier: Apache-2.0

const FIRST_BLOCK_BYTES = 512;
const MAX_BLOCK_BYTES = 64 * 1024;

/** Bytes that come in pieces of any size, in few blocks: many small ones would take far more memory than their contents. */
export class GrowingBytes {
  /** All blocks full but the last. */
  readonly #blocks: Buffer[] = [];
  #capacity = 0;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Its memory. */
  get capacity(): number {
    return this.#capacity;
  }

  /** All bytes in one piece, which is a copy if there are several blocks. */
  get bytes(): Buffer {
    const [only] = this.#blocks;
    if (only !== undefined && this.#blocks.length === 1) return only.subarray(0, this.#length);
    return Buffer.concat(this.#blocks, this.#length);
  }

  append(piece: Uint8Array): void {
    for (let taken = 0; taken < piece.length; ) {
      if (this.#length === this.#capacity) this.#grow();
      const last = this.#blocks.at(-1) as Buffer;
      const free = this.#capacity - this.#length;
      const part = piece.subarray(taken, taken + free);
      last.set(part, last.length - free);
      this.#length += part.length;
      taken += part.length;
    }
  }

  #grow(): void {
    const bytes = Math.min(MAX_BLOCK_BYTES, Math.max(FIRST_BLOCK_BYTES, this.#capacity));
    this.#blocks.push(Buffer.allocUnsafeSlow(bytes));
    this.#capacity += bytes;
  }
}
