// SPDX-License-Identifier: Apache-2.0
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';

export type Loaded<Value> =
  | { readonly is: 'loading'; readonly value?: Value }
  | { readonly is: 'failed'; readonly error: unknown; readonly value?: Value }
  | { readonly is: 'there'; readonly value: Value };

/**
 * The value of `load`, and a function that loads it again. While that goes on, or if it fails, the last value stays; that of
 * another `load` only until this one fails. The signal is aborted when the part is removed or loads again.
 * @param load stable, or made by `useCallback`: a new one is called at once
 */
export function useLoaded<Value>(load: (signal: AbortSignal) => Promise<Value>): [Loaded<Value>, () => void] {
  const [state, setState] = useState<Loaded<Value>>({ is: 'loading' });
  const [turn, setTurn] = useState(0);
  const loaded = useRef<typeof load>(undefined);
  // A new turn loads again.
  useEffect(() => {
    const aborting = new AbortController();
    setState(({ value }) => ({ is: 'loading', ...(value !== undefined && { value }) }));
    load(aborting.signal).then(
      (value) => {
        if (aborting.signal.aborted) return;
        loaded.current = load;
        setState({ is: 'there', value });
      },
      (error: unknown) => {
        if (aborting.signal.aborted) return;
        const isSame = loaded.current === load;
        setState(({ value }) => ({ is: 'failed', error, ...(isSame && value !== undefined && { value }) }));
      },
    );
    return () => aborting.abort();
  }, [load, turn]);
  return [state, useCallback(() => setTurn((last) => last + 1), [])];
}
