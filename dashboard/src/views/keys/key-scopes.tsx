// SPDX-License-Identifier: Apache-2.0
import { type KeyDraft, scopes, scopeTexts } from '../../logic/key-fields.js';

interface KeyScopesProps {
  readonly draft: KeyDraft;
  readonly mayGiveAdmin: boolean;
  readonly onChange: (part: Partial<KeyDraft>) => void;
}

export function KeyScopes({ draft, mayGiveAdmin, onChange }: KeyScopesProps) {
  const offered = scopes.filter((scope) => scope !== 'admin' || mayGiveAdmin);
  return (
    <fieldset>
      <legend>Scopes</legend>
      {offered.map((scope) => (
        <label key={scope} class="check">
          <input
            type="checkbox"
            checked={draft.scopes.includes(scope)}
            onChange={({ currentTarget: { checked } }) =>
              onChange({
                scopes: scopes.filter((each) => (each === scope ? checked : draft.scopes.includes(each))),
              })
            }
          />{' '}
          <code>{scope}</code> <span class="soft">{scopeTexts[scope]}</span>
        </label>
      ))}
    </fieldset>
  );
}
