// SPDX-License-Identifier: Apache-2.0
import { opendir } from 'node:fs/promises';
import path from 'node:path';
import { pieceOfEntry } from './object-name.js';

/** As many as are quickly read at once: the default of 32 makes large folders slow. */
const ENTRIES_PER_READ = 512;

/** The first entries of a folder, in order, that may belong to keys that start with `hexPrefix`. */
async function firstEntries(dir: string, hexPrefix: string, limit: number): Promise<string[]> {
  let found: string[] = [];
  /** What sorts behind it is not among the first. */
  let bound: string | undefined;
  const keepFirst = (): void => {
    found = found.sort().slice(0, limit);
    if (found.length === limit) bound = found.at(-1);
  };
  try {
    for await (const { name } of await opendir(dir, { bufferSize: ENTRIES_PER_READ })) {
      if (bound !== undefined && name > bound) continue;
      const piece = pieceOfEntry(name);
      if (piece === undefined) continue;
      const { hex, isFile } = piece;
      if (!hex.startsWith(hexPrefix) && (isFile || !hexPrefix.startsWith(hex))) continue;
      found.push(name);
      if (found.length >= 4 * limit) keepFirst();
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  keepFirst();
  return found;
}

export interface ListedFile {
  readonly file: string;
  readonly key: string;
}

/** Files of keys that start with `keyPrefix`, in the order of their bytes; at most `limit`, whatever lies there. */
export async function listFiles(root: string, keyPrefix: string, limit: number): Promise<ListedFile[]> {
  const listed: ListedFile[] = [];
  async function walk(dir: string, parentHex: string, hexPrefix: string): Promise<void> {
    for (const entry of await firstEntries(dir, hexPrefix, limit)) {
      if (listed.length >= limit) return;
      const { hex, isFile } = pieceOfEntry(entry) as { hex: string; isFile: boolean };
      const file = path.join(dir, entry);
      if (isFile) listed.push({ file, key: Buffer.from(parentHex + hex, 'hex').toString() });
      else await walk(file, parentHex + hex, hexPrefix.slice(hex.length));
    }
  }
  await walk(root, '', Buffer.from(keyPrefix).toString('hex'));
  return listed;
}
