// SPDX-License-Identifier: Apache-2.0
import { useState } from 'preact/hooks';
import type { AdminInvitation, AdminUser } from 'veravox-client';
import { type Role, roles, roleTexts } from '../../logic/roles.js';
import { AccountField } from '../../parts/account-field.js';
import { Choice } from '../../parts/choice.js';
import { FormDialog } from '../../parts/form-dialog.js';
import { TextField } from '../../parts/text-field.js';
import { useSession } from '../../session.js';

interface UserFormProps {
  /** The user to change; without, a user is added. */
  readonly of?: AdminUser;
  readonly onClose: () => void;
  /** With the link for a user that was added. */
  readonly onDone: (invitation: AdminInvitation | undefined) => void;
}

export function UserForm({ of, onClose, onDone }: UserFormProps) {
  const session = useSession();
  const { admin } = session;
  const [name, setName] = useState('');
  const [role, setRole] = useState<Role>(of?.role ?? 'viewer');
  const [account, setAccount] = useState(of?.account ?? 'default');
  const act = async (): Promise<void> => {
    if (of === undefined) {
      onDone(await admin.createUser({ name: name.trim(), role, account }));
      return;
    }
    await admin.changeUser(of.id, {
      ...(role !== of.role && { role }),
      ...(account !== of.account && { account }),
    });
    onDone(undefined);
  };
  return (
    <FormDialog
      title={of === undefined ? 'Add a user' : 'Edit the user'}
      verb={of === undefined ? 'Add' : 'Save'}
      act={act}
      onClose={onClose}
    >
      {of === undefined && (
        <TextField
          label="Name"
          hint="For signing in."
          required
          maxLength={100}
          autocomplete="off"
          value={name}
          onType={setName}
        />
      )}
      <Choice
        label="Role"
        value={role}
        options={roles}
        textOf={(each) => roleTexts[each]}
        onChoose={setRole}
      />
      <AccountField
        hint="They see its keys and jobs. Administrators see those of all accounts."
        isRequired
        value={account}
        onType={setAccount}
      />
      {of !== undefined && <p class="soft">A change signs the user out everywhere.</p>}
    </FormDialog>
  );
}
