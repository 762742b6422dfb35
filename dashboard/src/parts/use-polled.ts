// SPDX-License-Identifier: Apache-2.0
import { useEffect } from 'preact/hooks';
import { type Loaded, useLoaded } from './use-loaded.js';

/**
 * Like `useLoaded`, and again and again while the page is seen.
 * @param everyMs undefined: only when asked to
 */
export function usePolled<Value>(
  load: (signal: AbortSignal) => Promise<Value>,
  everyMs: number | undefined,
): [Loaded<Value>, () => void] {
  const [state, reload] = useLoaded(load);
  // The pause begins with the last answer: a slow server is not asked twice.
  useEffect(() => {
    if (everyMs === undefined || state.is === 'loading') return;
    const again = (): void => {
      if (!document.hidden) reload();
    };
    const timer = setTimeout(again, everyMs);
    document.addEventListener('visibilitychange', again);
    return () => {
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', again);
    };
  }, [state, everyMs, reload]);
  return [state, reload];
}
