// SPDX-License-Identifier: Apache-2.0

/** The buffers behind slots, for other threads. */
export interface SharedInputSlots {
  readonly floats: SharedArrayBuffer;
  /** [0] free slots, [1..] one word per slot: 1 when taken. */
  readonly state: SharedArrayBuffer;
  readonly floatsPerSlot: number;
}

const freeCountIndex = 0;

/**
 * A fixed number of equally large places in shared memory, each for one model input on its way from a prepare thread to a
 * scoring thread. They bound the memory of prepared windows: threads wait for a free one.
 */
export class InputSlots {
  readonly shared: SharedInputSlots;
  readonly #state: Int32Array;

  constructor(shared: SharedInputSlots) {
    this.shared = shared;
    this.#state = new Int32Array(shared.state);
  }

  static create(count: number, floatsPerSlot: number): InputSlots {
    const slots = new InputSlots({
      floats: new SharedArrayBuffer(count * floatsPerSlot * Float32Array.BYTES_PER_ELEMENT),
      state: new SharedArrayBuffer((count + 1) * Int32Array.BYTES_PER_ELEMENT),
      floatsPerSlot,
    });
    Atomics.store(slots.#state, freeCountIndex, count);
    return slots;
  }

  /** Makes the system hand out the memory now. Not once slots are in use. */
  touch(): void {
    new Float32Array(this.shared.floats).fill(0);
  }

  get count(): number {
    return this.#state.length - 1;
  }

  get freeCount(): number {
    return Atomics.load(this.#state, freeCountIndex);
  }

  /** The first `floats` elements of a slot. */
  view(slot: number, floats: number): Float32Array {
    const byteOffset = slot * this.shared.floatsPerSlot * Float32Array.BYTES_PER_ELEMENT;
    return new Float32Array(this.shared.floats, byteOffset, floats);
  }

  /** Takes a slot; waits up to `timeoutMs` (which blocks the thread) and then gives undefined. */
  acquire(timeoutMs: number): number | undefined {
    const state = this.#state;
    for (;;) {
      const free = Atomics.load(state, freeCountIndex);
      if (free === 0) {
        if (timeoutMs === 0 || Atomics.wait(state, freeCountIndex, 0, timeoutMs) === 'timed-out')
          return undefined;
      } else if (Atomics.compareExchange(state, freeCountIndex, free, free - 1) === free) {
        return this.#takeAny();
      }
    }
  }

  release(slot: number): void {
    if (Atomics.exchange(this.#state, slot + 1, 0) !== 1)
      throw new Error(`Slot ${slot} was not taken. This is a bug.`);
    Atomics.add(this.#state, freeCountIndex, 1);
    Atomics.notify(this.#state, freeCountIndex, 1);
  }

  // The count was lowered first, so at least one slot is free for each caller that comes here.
  #takeAny(): number {
    for (;;) {
      for (let slot = 0; slot < this.count; slot++) {
        if (Atomics.compareExchange(this.#state, slot + 1, 0, 1) === 0) return slot;
      }
    }
  }
}
