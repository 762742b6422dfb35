// SPDX-License-Identifier: Apache-2.0
import { useState } from 'preact/hooks';
import { roleTexts } from '../../logic/roles.js';
import { Moment } from '../../parts/moment.js';
import { Name } from '../../parts/name.js';
import { useSession } from '../../session.js';
import { PasswordForm } from './password-form.js';
import { Sessions } from './sessions.js';

/** The signed-in user's own matters. */
export default function Account() {
  const { user } = useSession();
  // A new password ends sessions, so their list is read again.
  const [turn, setTurn] = useState(0);
  return (
    <div class="cards">
      <section class="card" aria-labelledby="you">
        <h2 id="you">
          <Name text={user.name} />
        </h2>
        <dl class="facts">
          <dt>Role</dt>
          <dd>{roleTexts[user.role]}</dd>
          <dt>Account</dt>
          <dd>{user.account === null ? 'all' : <Name text={user.account} />}</dd>
          <dt>Session ends</dt>
          <dd>
            <Moment at={user.expires_at} />
          </dd>
        </dl>
      </section>
      <PasswordForm onChanged={() => setTurn((last) => last + 1)} />
      <Sessions key={turn} />
    </div>
  );
}
