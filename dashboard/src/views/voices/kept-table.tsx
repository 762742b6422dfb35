// SPDX-License-Identifier: Apache-2.0
import { useState } from 'preact/hooks';
import { printable } from '../../logic/printable.js';
import { fileOf, type Voiceprint } from '../../logic/voiceprints.js';
import { Confirmation } from '../../parts/confirmation.js';
import { Moment } from '../../parts/moment.js';
import { Name } from '../../parts/name.js';
import { saveFile } from '../../parts/save-file.js';
import { Table } from '../../parts/table.js';
import { EditVoiceprint } from './edit-voiceprint.js';
import { ImportVoiceprints } from './import-voiceprints.js';
import { forget } from './kept-voiceprints.js';

interface KeptTableProps {
  readonly voiceprints: readonly Voiceprint[];
  readonly isLoading: boolean;
  onChanged(): void;
}

type Asked = { readonly to: 'edit' | 'delete'; readonly voiceprint: Voiceprint } | undefined;

const exported = (voiceprints: readonly Voiceprint[], name: string): void =>
  saveFile(`${name}.json`, 'application/json', fileOf(voiceprints));

/** The voiceprints of this browser. */
export function KeptTable({ voiceprints, isLoading, onChanged }: KeptTableProps) {
  const [asked, setAsked] = useState<Asked>();
  const close = (): void => setAsked(undefined);
  return (
    <section class="card" aria-label="Saved voiceprints">
      <h2>Saved voiceprints</h2>
      <p>
        Voiceprints stay in this browser, for everybody who uses it. They leave it only in requests to verify
        or identify, and the server does not keep them. They are personal data: delete those that you no
        longer need.
      </p>
      {voiceprints.length === 0 ? (
        <p class="soft">{isLoading ? 'Loading …' : 'None yet. Enrol a voice above, or import a file.'}</p>
      ) : (
        <Table
          label="Saved voiceprints, as a table"
          columns={['Name', 'Note', 'Created', 'Model', { number: 'Speech' }, 'Actions']}
        >
          {voiceprints.map((voiceprint) => (
            <tr key={voiceprint.id}>
              <th scope="row" class="named">
                <Name text={voiceprint.name} />
              </th>
              <td>
                <Name text={voiceprint.note} />
              </td>
              <td>
                <Moment at={voiceprint.created} />
              </td>
              <td>
                <Name text={voiceprint.model} />
              </td>
              <td class="number">
                {voiceprint.speechS === null ? '' : `${voiceprint.speechS.toFixed(1)} s`}
              </td>
              <td>
                <Actions voiceprint={voiceprint} onAsked={setAsked} />
              </td>
            </tr>
          ))}
        </Table>
      )}
      {voiceprints.length > 0 && (
        <div class="row">
          <button type="button" onClick={() => exported(voiceprints, 'voiceprints')}>
            Export all
          </button>
        </div>
      )}
      <ImportVoiceprints kept={voiceprints} onImported={onChanged} />
      {asked?.to === 'edit' && (
        <EditVoiceprint voiceprint={asked.voiceprint} onClose={close} onSaved={onChanged} />
      )}
      {asked?.to === 'delete' && (
        <Confirmation
          title="Delete the voiceprint?"
          verb="Delete"
          act={async () => {
            await forget(asked.voiceprint.id);
            close();
            onChanged();
          }}
          onClose={close}
        >
          <p>
            <Name text={asked.voiceprint.name} /> is removed from this browser for good.
          </p>
        </Confirmation>
      )}
    </section>
  );
}

function Actions({
  voiceprint,
  onAsked,
}: {
  readonly voiceprint: Voiceprint;
  readonly onAsked: (asked: Asked) => void;
}) {
  const name = printable(voiceprint.name);
  return (
    <div class="actions">
      <button type="button" aria-label={`Edit ${name}`} onClick={() => onAsked({ to: 'edit', voiceprint })}>
        Edit
      </button>
      <button
        type="button"
        aria-label={`Export ${name}`}
        onClick={() => exported([voiceprint], 'voiceprint')}
      >
        Export
      </button>
      <button
        type="button"
        class="danger"
        aria-label={`Delete ${name}`}
        onClick={() => onAsked({ to: 'delete', voiceprint })}
      >
        Delete
      </button>
    </div>
  );
}
