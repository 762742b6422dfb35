// SPDX-License-Identifier: Apache-2.0
import { useLayoutEffect } from 'preact/hooks';
import { ThemeChoice } from '../../parts/theme-choice.js';
import type { Place } from '../../place.js';
import { SignInForm } from './sign-in-form.js';
import { Welcome } from './welcome.js';

interface SignInProps {
  readonly place: Place;
  /** Whether a session has ended while the page was open. */
  readonly isReturning: boolean;
  readonly onSignedIn: () => Promise<void>;
}

/** The way in: with a password, an OpenID provider, or the link for a new password. The address stays the same. */
export function SignIn({ place, isReturning, onSignedIn }: SignInProps) {
  const token = place.view === 'welcome' ? (place.query.get('token') ?? '') : '';
  const title = token === '' ? 'Sign in' : 'Choose a password';
  useLayoutEffect(() => {
    document.title = `${title} · veravox`;
  }, [title]);
  return (
    <div class="way-in">
      <header class="row">
        <strong class="brand">veravox</strong>
        <ThemeChoice />
      </header>
      <main id="main" tabIndex={-1} class="card">
        <h1>{title}</h1>
        {token === '' ? (
          <SignInForm place={place} isReturning={isReturning} onSignedIn={onSignedIn} />
        ) : (
          <Welcome token={token} userName={place.query.get('name') ?? ''} onSignedIn={onSignedIn} />
        )}
      </main>
    </div>
  );
}
