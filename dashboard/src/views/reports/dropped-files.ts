// SPDX-License-Identifier: Apache-2.0

export interface FileWithPath {
  /** From the chosen folder on, or the name only. */
  readonly path: string;
  readonly file: File;
}

/** More files than this are no folder of a list, but a whole disk. */
const MAX_FILES = 100_000;

/** All files below an entry. */
async function filesBelow(entry: FileSystemEntry, found: FileWithPath[]): Promise<void> {
  if (found.length >= MAX_FILES) return;
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) =>
      (entry as FileSystemFileEntry).file(resolve, reject),
    );
    found.push({ path: entry.fullPath, file });
    return;
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  for (;;) {
    // A folder is read in portions, until there is an empty one.
    const entries = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject),
    );
    if (entries.length === 0) return;
    for (const inner of entries) await filesBelow(inner, found);
  }
}

/** The dropped files, and those in dropped folders; unreadable ones are left out. */
export async function filesDropped(transfer: DataTransfer | null): Promise<FileWithPath[]> {
  const found: FileWithPath[] = [];
  // The entries are gone after the first pause.
  const entries = [...(transfer?.items ?? [])].flatMap((item) => item.webkitGetAsEntry() ?? []);
  for (const entry of entries) await filesBelow(entry, found).catch(() => {});
  return found;
}
