// SPDX-License-Identifier: Apache-2.0
import { opendir } from 'node:fs/promises';
import path from 'node:path';
import { objectFiles } from './account-space.js';
import { pieceOfEntry } from './object-name.js';

/** As many as are quickly read at once: the default of 32 makes large folders slow. */
const ENTRIES_PER_READ = 512;
const SLASH_HEX = '2f';

export interface ListingTerms {
  readonly keyPrefix: string;
  /** Only later keys in the order of the bytes. */
  readonly after?: string | undefined;
  /** Keys with the same text up to a slash behind the prefix are one item. */
  readonly isGrouped?: boolean | undefined;
}

export interface ListedItem {
  /** Of a group, the common beginning of its keys. */
  readonly key: string;
  /** Undefined for a group. */
  readonly file: string | undefined;
}

interface Entry {
  readonly name: string;
  /** The entry's part of a key, and that of all folders above it. */
  readonly hex: string;
  readonly isFile: boolean;
  readonly groupHex: string | undefined;
}

/** Items of keys that start with the prefix, in the order of their bytes; at most `limit`, whatever lies there. */
export async function listFiles(root: string, terms: ListingTerms, limit: number): Promise<ListedItem[]> {
  const prefixHex = hexOf(terms.keyPrefix);
  let afterHex = hexOf(terms.after ?? '');
  const listed: ListedItem[] = [];

  function entryOf(name: string, parentHex: string): Entry | undefined {
    const piece = pieceOfEntry(name);
    if (piece === undefined) return undefined;
    const { isFile } = piece;
    const hex = parentHex + piece.hex;
    const isBelowPrefix = hex.startsWith(prefixHex);
    if (!isBelowPrefix && (isFile || !prefixHex.startsWith(hex))) return undefined;
    const groupHex = terms.isGrouped && isBelowPrefix ? groupOf(hex, prefixHex.length) : undefined;
    if (groupHex === afterHex) return undefined;
    // A folder may have keys on both sides, so only they tell whether a group has later ones.
    if (!isFile && afterHex.startsWith(hex)) return { name, hex, isFile, groupHex: undefined };
    return hex > afterHex ? { name, hex, isFile, groupHex } : undefined;
  }

  /** The first entries of a folder, in order. */
  async function firstEntries(dir: string, parentHex: string, behindName: string): Promise<Entry[]> {
    let found: Entry[] = [];
    let groups = new Set<string>();
    /** Entries behind it are not among the first. */
    let bound: string | undefined;
    const keepFirst = (): void => {
      found = found.sort((a, b) => (a.name < b.name ? -1 : 1)).slice(0, limit);
      groups = new Set(found.flatMap(({ groupHex }) => groupHex ?? []));
      if (found.length === limit) bound = found.at(-1)?.name;
    };
    try {
      for await (const { name } of await opendir(dir, { bufferSize: ENTRIES_PER_READ })) {
        if (name <= behindName || (bound !== undefined && name > bound)) continue;
        const entry = entryOf(name, parentHex);
        if (entry === undefined) continue;
        if (entry.groupHex !== undefined) {
          if (groups.has(entry.groupHex)) continue;
          if (!entry.isFile && !(await holdsFile(path.join(dir, name)))) continue;
          groups.add(entry.groupHex);
        }
        found.push(entry);
        if (found.length >= 4 * limit) keepFirst();
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
    keepFirst();
    return found;
  }

  function list(hex: string, file: string | undefined): void {
    listed.push({ key: Buffer.from(hex, 'hex').toString(), file });
    afterHex = hex;
  }

  async function walk(dir: string, parentHex: string): Promise<void> {
    for (let entries: Entry[] = [], behindName = ''; ; behindName = entries.at(-1)?.name ?? '') {
      entries = await firstEntries(dir, parentHex, behindName);
      for (const { name, hex, isFile, groupHex } of entries) {
        if (listed.length >= limit) return;
        const file = path.join(dir, name);
        // A folder before it may have had the same group.
        if (groupHex === afterHex) continue;
        if (groupHex !== undefined) list(groupHex, undefined);
        else if (isFile) list(hex, file);
        else await walk(file, hex);
      }
      // Folders may have been empty.
      if (entries.length < limit) return;
    }
  }

  await walk(root, '');
  return listed;
}

async function holdsFile(dir: string): Promise<boolean> {
  for await (const _ of objectFiles(dir)) return true;
  return false;
}

const hexOf = (key: string): string => Buffer.from(key).toString('hex');

function groupOf(hex: string, from: number): string | undefined {
  for (let at = from; at < hex.length; at += 2) {
    if (hex.startsWith(SLASH_HEX, at)) return hex.slice(0, at + 2);
  }
  return undefined;
}
