// SPDX-License-Identifier: Apache-2.0
import { useId } from 'preact/hooks';
import { type FileWithPath, filesDropped } from './dropped-files.js';

export type { FileWithPath } from './dropped-files.js';

interface AudioFilesProps {
  onFiles(files: readonly FileWithPath[]): void;
}

/** Known to all browsers, but not to the types of elements. */
const wholeFolder = { webkitdirectory: true };

const withPaths = (list: FileList | null): FileWithPath[] =>
  [...(list ?? [])].map((file) => ({ path: file.webkitRelativePath || file.name, file }));

/** A folder or files, chosen or dropped. */
export function AudioFiles({ onFiles }: AudioFilesProps) {
  const id = useId();
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the inputs inside do the same by keyboard
    <div
      class="file-drop"
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        void filesDropped(event.dataTransfer).then(onFiles);
      }}
    >
      <label for={`${id}-folder`}>Folder with the recordings</label>
      <input
        id={`${id}-folder`}
        type="file"
        {...wholeFolder}
        onChange={({ currentTarget }) => onFiles(withPaths(currentTarget.files))}
      />
      <label for={`${id}-files`}>Or single files</label>
      <input
        id={`${id}-files`}
        type="file"
        multiple
        accept="audio/*,video/*"
        onChange={({ currentTarget }) => onFiles(withPaths(currentTarget.files))}
      />
    </div>
  );
}
