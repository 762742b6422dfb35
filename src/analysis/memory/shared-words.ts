// SPDX-License-Identifier: Apache-2.0

/** Words of memory that several threads see: one makes them, the others get `shared`. */
export abstract class SharedWords {
  readonly shared: SharedArrayBuffer;
  protected readonly words: Int32Array;

  constructor(shared: SharedArrayBuffer) {
    this.shared = shared;
    this.words = new Int32Array(shared);
  }
}
