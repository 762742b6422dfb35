// SPDX-License-Identifier: Apache-2.0
import { useCallback, useEffect } from 'preact/hooks';
import { useKept } from '../kept.js';
import { type ServerFacts, serverFacts } from '../logic/server-facts.js';
import { useSession } from '../session.js';
import { useLoaded } from './use-loaded.js';

export interface AskedFacts {
  /** The latest ones; undefined before the first answer. */
  readonly value: ServerFacts | undefined;
  readonly isLoading: boolean;
  readonly error: unknown;
  again(): void;
}

/** The server's choices for requests. While it is away, its last answer is good enough to read results by. */
export function useServerFacts(): AskedFacts {
  const { admin } = useSession();
  const [kept, keep] = useKept<ServerFacts | undefined>('facts', undefined);
  const load = useCallback(
    async (signal: AbortSignal) => serverFacts(await admin.getAnalysisFacts({ signal })),
    [admin],
  );
  const [loaded, again] = useLoaded(load);
  useEffect(() => {
    if (loaded.value !== undefined) keep(loaded.value);
  }, [loaded.value, keep]);
  return {
    value: loaded.value ?? kept,
    isLoading: loaded.is === 'loading',
    error: loaded.is === 'failed' ? loaded.error : undefined,
    again,
  };
}
