// SPDX-License-Identifier: Apache-2.0
import { useState } from 'preact/hooks';
import { MAX_NAME_CHARS, type Voiceprint } from '../../logic/voiceprints.js';
import { Field } from '../../parts/field.js';
import { FormDialog } from '../../parts/form-dialog.js';
import { keep } from './kept-voiceprints.js';

interface EditVoiceprintProps {
  readonly voiceprint: Voiceprint;
  onClose(): void;
  onSaved(): void;
}

export function EditVoiceprint({ voiceprint, onClose, onSaved }: EditVoiceprintProps) {
  const [name, setName] = useState(voiceprint.name);
  const [note, setNote] = useState(voiceprint.note);
  const act = async (): Promise<void> => {
    await keep([{ ...voiceprint, name, note }]);
    onClose();
    onSaved();
  };
  return (
    <FormDialog title="Edit the voiceprint" verb="Save" act={act} onClose={onClose}>
      <Field label="Name">
        {(ids) => (
          <input
            {...ids}
            required
            maxLength={MAX_NAME_CHARS}
            value={name}
            onInput={({ currentTarget }) => setName(currentTarget.value)}
          />
        )}
      </Field>
      <Field label="Note">
        {(ids) => (
          <textarea
            {...ids}
            maxLength={1000}
            value={note}
            onInput={({ currentTarget }) => setNote(currentTarget.value)}
          />
        )}
      </Field>
    </FormDialog>
  );
}
