// SPDX-License-Identifier: Apache-2.0
import { useCallback, useState } from 'preact/hooks';
import type { AdminLink, AdminUser } from 'veravox-client';
import { Problem } from '../../parts/problem.js';
import { useFocusKept } from '../../parts/use-focus-kept.js';
import { useLoaded } from '../../parts/use-loaded.js';
import { useSession } from '../../session.js';
import { NewLink } from './new-link.js';
import { UserForm } from './user-form.js';
import { UserTable } from './user-table.js';

interface Made {
  readonly user: AdminUser;
  readonly link: AdminLink;
}

/** The users of the dashboard, and their rights. */
export default function Users() {
  const session = useSession();
  const [form, setForm] = useState<'new' | AdminUser>();
  const [links, setLinks] = useState<readonly Made[]>([]);
  const [list, reload] = useLoaded(
    useCallback((signal: AbortSignal) => session.admin.listUsers({ signal }), [session]),
  );
  useFocusKept(list);
  const close = useCallback(() => setForm(undefined), []);
  const remove = (id: string): void => setLinks((last) => last.filter(({ user }) => user.id !== id));
  const add = (made: Made): void => {
    // A new link ends the earlier one of the same user.
    remove(made.user.id);
    setLinks((last) => [made, ...last]);
  };
  return (
    <>
      {links.map((made) => (
        <NewLink key={made.user.id} {...made} onClose={() => remove(made.user.id)} />
      ))}
      <section class="card" aria-label="Users">
        <div class="row">
          <button type="button" class="main" onClick={() => setForm('new')}>
            Add a user
          </button>
        </div>
        {list.is === 'failed' && <Problem error={list.error} onRetry={reload} />}
        {list.value !== undefined && (
          <UserTable users={list.value.users} onEdit={setForm} onLink={add} onChanged={reload} />
        )}
        {list.is === 'loading' && list.value === undefined && <p>Loading …</p>}
      </section>
      {form !== undefined && (
        <UserForm
          {...(form !== 'new' && { of: form })}
          onClose={close}
          onDone={(invitation) => {
            if (invitation !== undefined) add(invitation);
            close();
            reload();
          }}
        />
      )}
    </>
  );
}
