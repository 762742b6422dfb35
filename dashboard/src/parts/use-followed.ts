// SPDX-License-Identifier: Apache-2.0
import { useCallback, useEffect, useState } from 'preact/hooks';
import { VeravoxError } from 'veravox-client';

export interface Followed<Value> {
  /** The latest one; stays while the connection is lost. That of another stream stays only until this one fails. */
  readonly value?: Value;
  /** The error that ended it; `restart` tries again. */
  readonly error?: unknown;
  /** Tried again by itself. */
  readonly isCut: boolean;
}

/** Before it is opened again, for the first time and at most. */
const REOPEN_MS = 2000;
const MOST_REOPEN_MS = 30_000;

/**
 * The values of a stream, which is opened again when it ends or is cut, and closed while nobody sees the page. A refusal ends
 * it.
 * @param open stable, or made by `useCallback`: a new one begins anew
 * @param isLast after which nothing more is expected
 */
export function useFollowed<Value>(
  open: (signal: AbortSignal) => AsyncIterable<Value>,
  isLast: (value: Value) => boolean = () => false,
): [Followed<Value>, restart: () => void] {
  const [state, setState] = useState<Followed<Value> & { readonly from?: unknown }>({ isCut: false });
  const [turn, setTurn] = useState(0);
  // A new turn begins anew. Whether a value is the last one does not change over time.
  useEffect(() => {
    const tell = (change: (last: Followed<Value>) => Followed<Value>): void =>
      setState((last) => ({ ...change(last.from === open ? last : { isCut: false }), from: open }));
    let stopping = new AbortController();
    const begin = (): void => {
      stopping.abort();
      stopping = new AbortController();
      if (!document.hidden) void follow(stopping.signal, open, isLast, tell);
    };
    begin();
    document.addEventListener('visibilitychange', begin);
    return () => {
      document.removeEventListener('visibilitychange', begin);
      stopping.abort();
    };
  }, [open, turn]);
  return [state, useCallback(() => setTurn((last) => last + 1), [])];
}

async function follow<Value>(
  signal: AbortSignal,
  open: (signal: AbortSignal) => AsyncIterable<Value>,
  isLast: (value: Value) => boolean,
  tell: (change: (last: Followed<Value>) => Followed<Value>) => void,
): Promise<void> {
  for (let waitMs = REOPEN_MS; !signal.aborted; ) {
    try {
      let isOver = false;
      for await (const value of open(signal)) {
        if (signal.aborted) return;
        waitMs = REOPEN_MS;
        tell(() => ({ value, isCut: false }));
        isOver = isLast(value);
      }
      if (isOver) return;
    } catch (error) {
      if (signal.aborted) return;
      const isRefused = error instanceof VeravoxError && error.status < 500 && error.status !== 429;
      tell(({ value }) => ({
        ...(value !== undefined && { value }),
        ...(isRefused && { error }),
        isCut: !isRefused,
      }));
      if (isRefused) return;
      waitMs = Math.min(MOST_REOPEN_MS, 2 * waitMs);
    }
    await new Promise((resolve) => setTimeout(resolve, waitMs));
  }
}
