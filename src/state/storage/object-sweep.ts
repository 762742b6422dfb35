// SPDX-License-Identifier: Apache-2.0
import type { Stats } from 'node:fs';
import { opendir, readdir, rm, rmdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { type AccountSpace, MD5_BYTES, objectFiles } from './account-space.js';

/** Of accounts; `incoming` is not an account. */
const ACCOUNT_FOLDER = /^[0-9a-f]{32}$/;

/**
 * Removes objects that have been stored for longer than their days, and empty folders.
 * @param daysSince how many days have been lived through since then
 * @returns what was removed, and the failures of accounts, which keep none of the others
 */
export async function sweepObjects(
  dataDir: string,
  space: AccountSpace,
  ttlDays: number,
  daysSince: (stored: Date) => number,
): Promise<{ objects: number; bytes: number; failures: readonly unknown[] }> {
  const root = path.join(dataDir, 'objects');
  const swept = { objects: 0, bytes: 0, failures: [] as unknown[] };
  const isOver = (stored: Date): boolean => daysSince(stored) > ttlDays;
  async function sweepAccount(folder: string): Promise<void> {
    for await (const { file } of objectFiles(path.join(root, folder))) {
      const found = await statOf(file);
      if (found === undefined || !isOver(found.mtime)) continue;
      await space.change(folder, file, undefined, async () => {
        // A new object may have taken its place since, or a client may have deleted it.
        const { mtime, size } = (await statOf(file)) ?? {};
        if (mtime === undefined || size === undefined || !isOver(mtime)) return;
        await rm(file);
        swept.objects++;
        swept.bytes += size - MD5_BYTES;
      });
    }
    await removeEmptyFolders(path.join(root, folder));
  }

  for (const folder of (await readdir(root)).filter((name) => ACCOUNT_FOLDER.test(name))) {
    try {
      await sweepAccount(folder);
    } catch (error) {
      swept.failures.push(error);
    }
  }
  return swept;
}

/** Earlier versions left such folders as well. */
async function removeEmptyFolders(dir: string): Promise<void> {
  try {
    for await (const entry of await opendir(dir))
      if (entry.isDirectory()) await removeEmptyFolders(path.join(dir, entry.name));
    await rmdir(dir);
  } catch (error) {
    if (!['ENOTEMPTY', 'EEXIST', 'ENOENT'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}

async function statOf(file: string): Promise<Stats | undefined> {
  try {
    return await stat(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
