// SPDX-License-Identifier: Apache-2.0

/** The largest age of the database's figures in metrics. */
export const FIGURES_FRESH_MS = 5000;

/** Sets a gauge to the database's value. Without an answer the gauge keeps its values: veravox_database_up says why. */
export const fromDatabase = (set: () => Promise<void>): Promise<void> => set().catch(() => {});

/** Asks again when the answer is older than that; all questions in between get the same one. A failure is forgotten. */
export function freshFor<Value>(
  freshMs: number,
  read: () => Promise<Value>,
  nowMs: () => number = () => performance.now(),
): () => Promise<Value> {
  let known: { readonly value: Promise<Value>; readonly atMs: number } | undefined;
  return () => {
    if (known !== undefined && nowMs() - known.atMs < freshMs) return known.value;
    const value = read();
    const asked = { value, atMs: nowMs() };
    known = asked;
    value.catch(() => {
      if (known === asked) known = undefined;
    });
    return value;
  };
}
