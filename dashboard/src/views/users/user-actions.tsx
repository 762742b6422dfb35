// SPDX-License-Identifier: Apache-2.0
import { useState } from 'preact/hooks';
import type { AdminLink, AdminUser } from 'veravox-client';
import { Confirmation } from '../../parts/confirmation.js';
import { Name } from '../../parts/name.js';
import { Problem } from '../../parts/problem.js';
import { useAction } from '../../parts/use-action.js';
import { useSession } from '../../session.js';

interface UserActionsProps {
  readonly user: AdminUser;
  readonly onEdit: () => void;
  readonly onLink: (link: AdminLink) => void;
  readonly onChanged: () => void;
}

type Asked = 'disable' | 'sign-out';

export function UserActions({ user, onEdit, onLink, onChanged }: UserActionsProps) {
  const session = useSession();
  const { admin } = session;
  const [asked, setAsked] = useState<Asked>();
  const [enable, enabling] = useAction(async () => {
    await admin.changeUser(user.id, { disabled: false });
    onChanged();
  });
  const [link, linking] = useAction(async () => onLink(await admin.createUserLink(user.id)));
  const error = enabling.error ?? linking.error;
  const hidden = (
    <span class="visually-hidden">
      {' '}
      <Name text={user.name} />
    </span>
  );
  const close = (): void => setAsked(undefined);
  const isSelf = user.id === session.user.id;
  return (
    <div class="actions">
      <button type="button" onClick={onEdit}>
        Edit{hidden}
      </button>
      {user.disabled_at === null && (
        <>
          <button type="button" disabled={linking.isBusy} onClick={link}>
            Password link{hidden}
          </button>
          <button type="button" onClick={() => setAsked('sign-out')}>
            Sign out{hidden}
          </button>
          {!isSelf && (
            <button type="button" class="danger" onClick={() => setAsked('disable')}>
              Disable{hidden}
            </button>
          )}
        </>
      )}
      {user.disabled_at !== null && (
        <button type="button" disabled={enabling.isBusy} onClick={enable}>
          Enable{hidden}
        </button>
      )}
      {error !== undefined && <Problem error={error} />}
      {asked === 'disable' && (
        <Confirmation
          title="Disable the user?"
          verb="Disable"
          act={async () => {
            await admin.changeUser(user.id, { disabled: true });
            close();
            onChanged();
          }}
          onClose={close}
        >
          <p>
            <Name text={user.name} /> is signed out everywhere and can no longer sign in. API keys stay valid:
            revoke them under Keys.
          </p>
        </Confirmation>
      )}
      {asked === 'sign-out' && (
        <Confirmation
          title="Sign the user out everywhere?"
          verb="Sign out"
          act={async () => {
            await admin.endUserSessions(user.id);
            close();
            if (isSelf) session.end();
          }}
          onClose={close}
        >
          <p>
            All sessions of <Name text={user.name} /> end.
          </p>
        </Confirmation>
      )}
    </div>
  );
}
