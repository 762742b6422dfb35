// SPDX-License-Identifier: Apache-2.0
import { setTimeout as pause } from 'node:timers/promises';

/** The largest age of the database's figures in metrics. */
export const FIGURES_FRESH_MS = 5000;
/** Between two texts of metrics: anybody may ask, and each takes milliseconds of the thread that serves, or gives orders. */
export const METRICS_PAUSE_MS = 100;

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

/** Reads no sooner than this time after it has read. All who ask before it reads get the same answer; nobody gets an old one. */
export function seldom<Value>(pauseMs: number, read: () => Promise<Value>): () => Promise<Value> {
  let reading: Promise<Value> | undefined;
  let nextAtMs = 0;
  const readLater = async (): Promise<Value> => {
    const waitMs = nextAtMs - performance.now();
    if (waitMs > 0) await pause(waitMs);
    try {
      return await read();
    } finally {
      reading = undefined;
      nextAtMs = performance.now() + pauseMs;
    }
  };
  return () => {
    reading ??= readLater();
    return reading;
  };
}
