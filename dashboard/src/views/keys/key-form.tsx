// SPDX-License-Identifier: Apache-2.0
import { useState } from 'preact/hooks';
import type { AdminCreatedKey, AdminKey } from 'veravox-client';
import { changesIn, draftOf, emptyDraft, fieldsOf, type KeyDraft } from '../../logic/key-fields.js';
import { AccountField } from '../../parts/account-field.js';
import { Field } from '../../parts/field.js';
import { FormDialog } from '../../parts/form-dialog.js';
import { TextField } from '../../parts/text-field.js';
import { useSession } from '../../session.js';
import { KeyLimits } from './key-limits.js';
import { KeyScopes } from './key-scopes.js';

interface KeyFormProps {
  /** The key to change; without, a new one is made. */
  readonly of?: AdminKey;
  readonly onClose: () => void;
  readonly onCreated: (created: AdminCreatedKey) => void;
  readonly onChanged: () => void;
}

export function KeyForm({ of, onClose, onCreated, onChanged }: KeyFormProps) {
  const session = useSession();
  const [before] = useState<KeyDraft>(() =>
    of === undefined ? emptyDraft : draftOf({ ...of, scopes: [...of.scopes] }),
  );
  const [draft, setDraft] = useState(before);
  const change = (part: Partial<KeyDraft>): void => setDraft((last) => ({ ...last, ...part }));
  const { admin } = session;
  const act = async (): Promise<void> => {
    if (of !== undefined) {
      await admin.changeKey(of.id, changesIn(before, draft));
      onChanged();
      return;
    }
    const account = draft.account.trim();
    onCreated(await admin.createKey({ ...fieldsOf(draft), ...(account !== '' && { account }) }));
  };
  return (
    <FormDialog
      title={of === undefined ? 'Create a key' : `Edit key ${of.id}`}
      verb={of === undefined ? 'Create' : 'Save'}
      isReady={draft.scopes.length > 0}
      act={act}
      onClose={onClose}
    >
      <TextField
        label="Name"
        hint="Its purpose. Clients never see it."
        required
        maxLength={100}
        autocomplete="off"
        value={draft.name}
        onType={(name) => change({ name })}
      />
      {of === undefined && session.user.account === null && (
        <AccountField
          hint="Keys of one account share stored files and jobs. If empty: default."
          value={draft.account}
          onType={(account) => change({ account })}
        />
      )}
      <KeyScopes draft={draft} mayGiveAdmin={session.may('admin')} onChange={change} />
      <KeyLimits draft={draft} onChange={change} />
      <Field label="Expires" hint="In your time zone. If empty: never.">
        {(ids) => (
          <input
            {...ids}
            type="datetime-local"
            value={draft.expiresAt}
            onInput={(event) => change({ expiresAt: event.currentTarget.value })}
          />
        )}
      </Field>
    </FormDialog>
  );
}
