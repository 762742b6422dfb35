// SPDX-License-Identifier: Apache-2.0
import { bytesInWords } from '../../logic/bytes.js';
import { Field } from '../../parts/field.js';
import { FileDrop } from '../../parts/file-drop.js';
import { Name } from '../../parts/name.js';
import type { Source } from './settings.js';

interface SourceChoiceProps {
  readonly source: Source | undefined;
  onSource(source: Source | undefined): void;
}

/** A file, dropped or chosen, or a link. */
export function SourceChoice({ source, onSource }: SourceChoiceProps) {
  const file = source?.is === 'file' ? source.file : undefined;
  return (
    <div class="source-choice">
      <FileDrop
        label="Recording"
        takesWholePage
        accept="audio/*,video/*,.mkv,.flac,.opus,.amr,.wma"
        hint={
          file && (
            <>
              Chosen: <Name text={file.name} />, {bytesInWords(file.size)}
            </>
          )
        }
        onFiles={([chosen]) => chosen !== undefined && onSource({ is: 'file', file: chosen })}
      />
      <Field label="Or a link to one" hint="To the server's storage, or to a host that its operator allows.">
        {(ids) => (
          <input
            {...ids}
            type="url"
            value={source?.is === 'link' ? source.link : ''}
            placeholder="https://"
            onInput={({ currentTarget }) => {
              const link = currentTarget.value.trim();
              onSource(link === '' ? undefined : { is: 'link', link });
            }}
          />
        )}
      </Field>
    </div>
  );
}
