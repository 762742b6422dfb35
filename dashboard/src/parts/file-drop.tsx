// SPDX-License-Identifier: Apache-2.0
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { takeDrops } from '../page-drops.js';

interface FileDropProps {
  readonly label: string;
  readonly hint?: ComponentChildren;
  /** As for the attribute of a file input, such as `audio/*`. */
  readonly accept?: string;
  readonly isMultiple?: boolean;
  readonly isDisabled?: boolean;
  /** Whether files dropped beside it are also meant. */
  readonly takesWholePage?: boolean;
  onFiles(files: readonly File[]): void;
}

/** Files, chosen or dropped. */
export function FileDrop(props: FileDropProps) {
  const { label, hint, accept, isMultiple, isDisabled, takesWholePage = false } = props;
  const id = useId();
  const [isOver, setIsOver] = useState(false);
  const take = (files: FileList | null | undefined): void => {
    const all = [...(files ?? [])];
    if (all.length > 0 && !isDisabled) props.onFiles(isMultiple ? all : all.slice(0, 1));
  };
  const latest = useRef(take);
  latest.current = take;
  useEffect(() => {
    if (takesWholePage) return takeDrops((files) => latest.current(files), setIsOver);
  }, [takesWholePage]);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the input inside does the same by keyboard
    <div
      class={`file-drop${isOver ? ' over' : ''}`}
      onDragOver={(event) => {
        // The page does it, and would take an event that was prevented for that of another box.
        if (takesWholePage) return;
        event.preventDefault();
        setIsOver(true);
      }}
      onDragLeave={() => setIsOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setIsOver(false);
        take(event.dataTransfer?.files);
      }}
    >
      <strong id={`${id}-title`}>{label}</strong>
      <div class="file-choice">
        <input
          id={id}
          type="file"
          // The browser's own control says "No file chosen" beside the name of the file that was taken.
          class="visually-hidden"
          accept={accept}
          multiple={isMultiple}
          disabled={isDisabled}
          aria-labelledby={`${id}-title ${id}-button`}
          aria-describedby={hint === undefined ? undefined : `${id}-hint`}
          onChange={({ currentTarget }) => {
            take(currentTarget.files);
            // The same file can be chosen again.
            currentTarget.value = '';
          }}
        />
        <label for={id} id={`${id}-button`}>
          {isMultiple ? 'Choose files' : 'Choose a file'}
        </label>
        <span class="soft">
          or drop {isMultiple ? 'them' : 'it'} {takesWholePage ? 'anywhere on the page' : 'here'}
        </span>
      </div>
      {hint !== undefined && (
        <span class="soft" id={`${id}-hint`}>
          {hint}
        </span>
      )}
    </div>
  );
}
