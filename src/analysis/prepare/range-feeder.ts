// SPDX-License-Identifier: Apache-2.0
import type { ByteSource } from '../../base/byte-source/byte-source.js';
import type { RangeMailbox } from './range-mailbox.js';

/** Blocks read ahead. More would only help if reading one took longer than using it. */
const BLOCKS_AHEAD = 2;

interface Block {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly read: Promise<void>;
}

/** Answers a prepare thread that asks for ranges of a file, a little ahead of it. Its memory: three blocks. */
export class RangeFeeder {
  readonly #source: ByteSource;
  readonly #mailbox: RangeMailbox;
  readonly #stop = new AbortController();
  readonly #blocks = new Map<number, Block>();
  /** Of blocks that were handed over: as garbage, a megabyte each, they would pile up between two collections. */
  readonly #spare: ArrayBuffer[] = [];
  #nextOffset = 0;
  /** Why a range could not be read. */
  failure: unknown;

  constructor(source: ByteSource, mailbox: RangeMailbox) {
    this.#source = source;
    this.#mailbox = mailbox;
  }

  /** Never rejects: a failure reaches the thread through the mailbox, and is kept. */
  async answer(offset: number, length: number): Promise<void> {
    try {
      this.#stop.signal.throwIfAborted();
      const isNext = offset === this.#nextOffset;
      this.#nextOffset = offset + length;
      if (!isNext) this.#dropBlocks();
      const block = this.#block(offset, length);
      if (isNext) this.#readAhead();
      await block.read;
      this.#blocks.delete(offset);
      this.#mailbox.fill(block.bytes);
      this.#spare.push(block.bytes.buffer);
    } catch (error) {
      this.failure ??= error;
      this.#mailbox.fail();
    }
  }

  /** Ends the current read, and the thread's wait for it. */
  stop(reason: unknown): void {
    this.#stop.abort(reason);
    this.#mailbox.fail();
    this.#dropBlocks();
  }

  #dropBlocks(): void {
    for (const [offset, { bytes, read }] of this.#blocks) {
      this.#blocks.delete(offset);
      // Until then its bytes may still come.
      read.then(
        () => this.#spare.push(bytes.buffer),
        () => {},
      );
    }
  }

  #readAhead(): void {
    const step = this.#mailbox.maxRangeBytes;
    for (let i = 0; i < BLOCKS_AHEAD; i++) {
      const offset = this.#nextOffset + i * step;
      if (offset < this.#source.bytes) this.#block(offset, Math.min(step, this.#source.bytes - offset));
    }
  }

  #block(offset: number, length: number): Block {
    let block = this.#blocks.get(offset);
    if (block === undefined || block.bytes.length !== length) {
      const memory = this.#spare.pop() ?? new ArrayBuffer(this.#mailbox.maxRangeBytes);
      const bytes = new Uint8Array(memory, 0, length);
      block = { bytes, read: this.#source.read(bytes, offset, this.#stop.signal) };
      // Read ahead, it may fail before anybody waits for it, or be wanted by nobody.
      block.read.catch(() => {});
      this.#blocks.set(offset, block);
    }
    return block;
  }
}
