// SPDX-License-Identifier: Apache-2.0
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { VeravoxError } from 'veravox-client';
import { keptOf } from './kept.js';
import { Problem } from './parts/problem.js';
import { usePlace } from './place.js';
import { Session, SessionContext, strangersClient } from './session.js';
import { Shell } from './shell.js';
import { returnToPlace } from './views/sign-in/remembered-place.js';
import { SignIn } from './views/sign-in/sign-in.js';

type State =
  | { readonly is: 'asking'; readonly isReturning: boolean }
  | { readonly is: 'failed'; readonly error: unknown }
  | { readonly is: 'stranger'; readonly isReturning: boolean }
  | { readonly is: 'signed-in'; readonly session: Session };

/** Asks for the signed-in user, and shows the views or the way in. */
export function App() {
  const [state, setState] = useState<State>({ is: 'asking', isReturning: false });
  const place = usePlace();
  const current = useRef<Session | undefined>(undefined);
  const ask = useCallback(async (): Promise<void> => {
    // The page asks once for the user, whichever request learns that the session is over.
    const reask = (ended: Session): void => {
      if (current.current !== ended) return;
      current.current = undefined;
      setState({ is: 'asking', isReturning: true });
      void ask();
    };
    try {
      const session = new Session(await strangersClient.getSession(), reask);
      current.current = session;
      keptOf(session.user.id).enter(session);
      returnToPlace();
      setState({ is: 'signed-in', session });
    } catch (error) {
      const isStranger = error instanceof VeravoxError && error.status === 401;
      setState((last) =>
        isStranger
          ? { is: 'stranger', isReturning: 'isReturning' in last && last.isReturning }
          : { is: 'failed', error },
      );
    }
  }, []);
  useEffect(() => void ask(), [ask]);
  const session = state.is === 'signed-in' ? state.session : undefined;
  useEffect(() => {
    const check = (): void => {
      if (!document.hidden) session?.check().catch(() => {});
    };
    document.addEventListener('visibilitychange', check);
    return () => document.removeEventListener('visibilitychange', check);
  }, [session]);
  const leave = useCallback(() => setState({ is: 'stranger', isReturning: false }), []);

  switch (state.is) {
    case 'asking':
      return <p class="page-note">Loading …</p>;
    case 'failed':
      return (
        <main class="page-note">
          <h1>veravox</h1>
          <Problem error={state.error} onRetry={ask} />
        </main>
      );
    case 'stranger':
      return <SignIn place={place} isReturning={state.isReturning} onSignedIn={ask} />;
    case 'signed-in':
      // A link for a password may be for another user of the same browser.
      if (place.view === 'welcome' && place.query.has('token'))
        return <SignIn place={place} isReturning={false} onSignedIn={ask} />;
      return (
        <SessionContext.Provider value={state.session}>
          <Shell place={place} onSignedOut={leave} />
        </SessionContext.Provider>
      );
  }
}
