// SPDX-License-Identifier: Apache-2.0
import { useState } from 'preact/hooks';
import { printable } from '../../logic/printable.js';
import { Field } from '../../parts/field.js';
import { NewPassword } from '../../parts/new-password.js';
import { Problem } from '../../parts/problem.js';
import { TextField } from '../../parts/text-field.js';
import { useAction } from '../../parts/use-action.js';
import { addressOf } from '../../place.js';
import { strangersClient } from '../../session.js';

interface WelcomeProps {
  readonly token: string;
  /** The user of the link; empty for the first one, who chooses a name. */
  readonly userName: string;
  readonly onSignedIn: () => Promise<void>;
}

/** Takes the first password of a user, or a new one. */
export function Welcome({ token, userName, onSignedIn }: WelcomeProps) {
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const [send, { isBusy, error }] = useAction(async () => {
    const trimmed = name.trim();
    await strangersClient.signIn({ token, password, ...(trimmed !== '' && { name: trimmed }) });
    // The link has had its one use: the history of the browser need not keep it.
    location.replace(addressOf(''));
    await onSignedIn();
  });
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      {userName === '' ? (
        <TextField
          label="Name"
          hint="Only for the first user of the server, who becomes its administrator. If empty: admin."
          autocomplete="username"
          maxLength={100}
          value={name}
          onType={setName}
        />
      ) : (
        // A password manager keeps the name with the password.
        <Field label="Name" hint="Sign in with this name from now on.">
          {(ids) => <input {...ids} readOnly autocomplete="username" value={printable(userName)} />}
        </Field>
      )}
      <NewPassword value={password} onType={setPassword} />
      {error !== undefined && <Problem error={error} />}
      <button type="submit" class="main" disabled={isBusy}>
        Set the password and sign in
      </button>
      <p>
        <a href={addressOf('')}>Sign in with an existing password</a>
      </p>
    </form>
  );
}
