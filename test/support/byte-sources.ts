// SPDX-License-Identifier: Apache-2.0
import type { ByteSource } from '../../src/base/byte-source/byte-source.js';

/** A file in memory, read like a remote one. */
export class MemoryByteSource implements ByteSource {
  readonly identity: string;
  readonly #file: Uint8Array;
  /** Called before every read. */
  beforeRead: (offset: number, length: number, signal: AbortSignal) => Promise<void> | void = () => {};
  readBytes = 0;
  isClosed = false;

  constructor(file: Uint8Array, identity = 'memory') {
    this.#file = file;
    this.identity = identity;
  }

  get bytes(): number {
    return this.#file.length;
  }

  async read(into: Uint8Array, offset: number, signal: AbortSignal): Promise<void> {
    await this.beforeRead(offset, into.length, signal);
    signal.throwIfAborted();
    if (offset + into.length > this.bytes) throw new Error('Read past the end.');
    this.readBytes += into.length;
    into.set(this.#file.subarray(offset, offset + into.length));
  }

  async close(): Promise<void> {
    this.isClosed = true;
  }
}
