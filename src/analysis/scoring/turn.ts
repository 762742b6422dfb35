// SPDX-License-Identifier: Apache-2.0

const FREE = 0;
const TAKEN = 1;

/** Shared by threads that must not do something at the same time. */
export const newTurn = (): SharedArrayBuffer => new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);

/** Does the work while no other thread does any. Blocks the thread until then, so a thread may do only one work at a time. */
export async function inTurn<Result>(
  turn: SharedArrayBuffer | undefined,
  work: () => Promise<Result>,
): Promise<Result> {
  if (turn === undefined) return work();
  const state = new Int32Array(turn);
  while (Atomics.compareExchange(state, 0, FREE, TAKEN) !== FREE) Atomics.wait(state, 0, TAKEN);
  try {
    return await work();
  } finally {
    Atomics.store(state, 0, FREE);
    Atomics.notify(state, 0, 1);
  }
}
