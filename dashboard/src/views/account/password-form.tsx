// SPDX-License-Identifier: Apache-2.0
import { useState } from 'preact/hooks';
import { NewPassword } from '../../parts/new-password.js';
import { Problem } from '../../parts/problem.js';
import { TextField } from '../../parts/text-field.js';
import { useAction } from '../../parts/use-action.js';
import { useSession } from '../../session.js';

export function PasswordForm({ onChanged }: { readonly onChanged: () => void }) {
  const session = useSession();
  const [password, setPassword] = useState('');
  const [next, setNext] = useState('');
  const [news, setNews] = useState('');
  const [send, { isBusy, error }] = useAction(async () => {
    setNews('');
    await session.admin.changePassword({ password, new_password: next });
    setPassword('');
    setNext('');
    setNews('The password was changed. Your other sessions have ended.');
    onChanged();
  });
  return (
    <section class="card" aria-labelledby="password">
      <h2 id="password">Change the password</h2>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void send();
        }}
      >
        {/* For password managers, which ask whose password it is. */}
        <input type="text" hidden autocomplete="username" value={session.user.name} readOnly />
        <TextField
          label="Current password"
          type="password"
          required
          autocomplete="current-password"
          maxLength={1024}
          value={password}
          onType={setPassword}
        />
        <NewPassword value={next} onType={setNext} />
        {error !== undefined && <Problem error={error} />}
        <output>{news}</output>
        <div>
          <button type="submit" class="main" disabled={isBusy}>
            Change the password
          </button>
        </div>
      </form>
    </section>
  );
}
