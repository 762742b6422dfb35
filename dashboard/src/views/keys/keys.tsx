// SPDX-License-Identifier: Apache-2.0
import { useCallback, useState } from 'preact/hooks';
import type { AdminCreatedKey, AdminKey } from 'veravox-client';
import { AccountFilter } from '../../parts/filter-text.js';
import { Pager } from '../../parts/pager.js';
import { Problem } from '../../parts/problem.js';
import { useFocusKept } from '../../parts/use-focus-kept.js';
import { useLoaded } from '../../parts/use-loaded.js';
import { usePages } from '../../parts/use-pages.js';
import { useSession } from '../../session.js';
import { KeyForm } from './key-form.js';
import { KeyTable } from './key-table.js';
import { NewKey } from './new-key.js';
import { Revocation } from './revocation.js';

type Task =
  | { readonly is: 'create' }
  | { readonly is: 'change'; readonly key: AdminKey }
  | { readonly is: 'revoke'; readonly key: AdminKey };

const KEYS_PER_PAGE = 50;

/** API keys: the users of the service, and their usage. */
export default function Keys() {
  const session = useSession();
  const [isActive, setActive] = useState(true);
  const [withPages, setWithPages] = useState(false);
  const [account, setAccount] = useState('');
  const [task, setTask] = useState<Task>();
  const [created, setCreated] = useState<readonly AdminCreatedKey[]>([]);
  const { cursor, ...pages } = usePages(`${isActive} ${withPages} ${account}`);
  const load = useCallback(
    (signal: AbortSignal) =>
      session.admin.listKeys({
        signal,
        limit: KEYS_PER_PAGE,
        cursor,
        state: isActive ? 'active' : undefined,
        kind: withPages ? undefined : 'program',
        account: account === '' ? undefined : account,
      }),
    [session, isActive, withPages, account, cursor],
  );
  const [list, reload] = useLoaded(load);
  useFocusKept(list);
  const add = (key: AdminCreatedKey): void => setCreated((last) => [key, ...last]);
  const close = useCallback(() => setTask(undefined), []);
  const done = useCallback(() => {
    setTask(undefined);
    reload();
  }, [reload]);
  return (
    <>
      {created.map((key) => (
        <NewKey
          key={key.id}
          created={key}
          onClose={() => setCreated((last) => last.filter(({ id }) => id !== key.id))}
        />
      ))}
      <section class="card" aria-label="API keys">
        <div class="row">
          {session.may('developer') && (
            <button type="button" class="main" onClick={() => setTask({ is: 'create' })}>
              Create a key
            </button>
          )}
          {session.user.account === null && <AccountFilter value={account} onChange={setAccount} />}
          <label class="check">
            <input
              type="checkbox"
              checked={!isActive}
              onChange={(event) => setActive(!event.currentTarget.checked)}
            />{' '}
            Include expired and revoked keys
          </label>
          <label class="check">
            <input
              type="checkbox"
              checked={withPages}
              onChange={(event) => setWithPages(event.currentTarget.checked)}
            />{' '}
            Include keys of dashboard pages
          </label>
        </div>
        {list.is === 'failed' && <Problem error={list.error} onRetry={reload} />}
        {list.value !== undefined && (
          <>
            <KeyTable
              keys={list.value.keys}
              mayChange={session.may('developer')}
              onChange={(key) => setTask({ is: 'change', key })}
              onRevoke={(key) => setTask({ is: 'revoke', key })}
            />
            <Pager page={pages.page} onBack={pages.onBack} onNext={pages.next(list.value.next_cursor)} />
          </>
        )}
        {list.is === 'loading' && list.value === undefined && <p>Loading …</p>}
      </section>
      {task?.is === 'create' && (
        <KeyForm
          onClose={close}
          onCreated={(key) => {
            add(key);
            done();
          }}
          onChanged={done}
        />
      )}
      {task?.is === 'change' && <KeyForm of={task.key} onClose={close} onCreated={add} onChanged={done} />}
      {task?.is === 'revoke' && <Revocation of={task.key} onClose={close} onRevoked={done} />}
    </>
  );
}
