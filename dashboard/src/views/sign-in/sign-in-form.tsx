// SPDX-License-Identifier: Apache-2.0
import { useCallback, useState } from 'preact/hooks';
import { signInErrorOf } from '../../logic/sign-in-errors.js';
import { Problem } from '../../parts/problem.js';
import { TextField } from '../../parts/text-field.js';
import { useAction } from '../../parts/use-action.js';
import { useLoaded } from '../../parts/use-loaded.js';
import type { Place } from '../../place.js';
import { baseUrl, strangersClient } from '../../session.js';
import { rememberPlace } from './remembered-place.js';

interface SignInFormProps {
  readonly place: Place;
  readonly isReturning: boolean;
  readonly onSignedIn: () => Promise<void>;
}

export function SignInForm({ place, isReturning, onSignedIn }: SignInFormProps) {
  const refusal = place.view === 'sign-in' ? signInErrorOf(place.query.get('error') ?? '') : undefined;
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const [ways] = useLoaded(
    useCallback((signal: AbortSignal) => strangersClient.getSignInWays({ signal }), []),
  );
  const [send, { isBusy, error }] = useAction(async () => {
    await strangersClient.signIn({ name, password });
    await onSignedIn();
  });
  // Until the server has answered, the usual way is there.
  const takesPassword = ways.value?.password ?? true;
  return (
    <>
      {refusal !== undefined && (
        <p class="notice problem" role="alert">
          {refusal}
        </p>
      )}
      {isReturning && (
        <p class="notice" role="status">
          Your session has ended. Sign in to continue where you left off.
        </p>
      )}
      {takesPassword && (
        <form
          class="stack"
          onSubmit={(event) => {
            event.preventDefault();
            void send();
          }}
        >
          <TextField
            label="Name"
            required
            autocomplete="username"
            maxLength={100}
            value={name}
            onType={setName}
          />
          <TextField
            label="Password"
            type="password"
            required
            autocomplete="current-password"
            maxLength={1024}
            value={password}
            onType={setPassword}
          />
          {error !== undefined && <Problem error={error} />}
          <button type="submit" class="main" disabled={isBusy}>
            {isBusy ? 'Signing in …' : 'Sign in'}
          </button>
        </form>
      )}
      {ways.value?.oidc && (
        <p>
          <a class="button" href={new URL('v1/admin/oidc/start', baseUrl).href} onClick={rememberPlace}>
            Sign in with your organisation
          </a>
        </p>
      )}
      {takesPassword && (
        <p class="soft">
          No password yet? Use the link from the server's first start, or ask an administrator for one. It
          comes from the view Users, or from <code>veravox admin link</code> in a shell.
        </p>
      )}
    </>
  );
}
