// SPDX-License-Identifier: Apache-2.0
//
// Files that outlive a power failure, and are never seen half-written: written whole under another name, synced, renamed,
// and the folder synced, which holds the name. Folders are made with every parent synced that got a new entry.
import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import { type FileHandle, mkdir, open, rename, rm, rmdir } from 'node:fs/promises';
import path from 'node:path';

/** The ending of incomplete files' names. */
export const TEMPORARY_SUFFIX = '.tmp';

const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;
/** A server that starts removes apparent leftovers, one of which may be a file just before its renaming. */
const ATTEMPTS = 3;
/** Each needs a removal of the target's folder in a moment of its own. */
const MOVE_ATTEMPTS = 100;

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;

const temporaryOf = (file: string): string => `${file}.${randomUUID()}${TEMPORARY_SUFFIX}`;

/**
 * Makes a folder and missing ones above it, for the owner only. Node's own recursive `mkdir` never returns on a file system
 * that takes no folders, such as /proc.
 */
export function makeFolder(dir: string): void {
  for (const folder of missingFolders(path.resolve(dir))) {
    try {
      fs.mkdirSync(folder, { mode: FOLDER_MODE });
    } catch (error) {
      if (codeOf(error) !== 'EEXIST' || !fs.statSync(folder).isDirectory()) throw error;
    }
    syncFolder(path.dirname(folder));
  }
}

/** The same without holding up the thread. */
export async function makeFolderLater(dir: string): Promise<void> {
  for (const folder of missingFolders(path.resolve(dir))) {
    try {
      await mkdir(folder, { mode: FOLDER_MODE });
    } catch (error) {
      if (codeOf(error) !== 'EEXIST' || !fs.statSync(folder).isDirectory()) throw error;
    }
    await syncFolderLater(path.dirname(folder));
  }
}

/** From the outermost to `dir` itself. */
function missingFolders(dir: string): string[] {
  const missing: string[] = [];
  for (let folder = dir; !fs.existsSync(folder); folder = path.dirname(folder)) missing.unshift(folder);
  if (missing.length === 0 && !fs.statSync(dir).isDirectory()) {
    throw Object.assign(new Error(`${dir} is not a folder.`), { code: 'ENOTDIR' });
  }
  return missing;
}

/** The names in a folder; none if there is no folder. */
export function namesIn(dir: string): string[] {
  try {
    return fs.readdirSync(dir);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return [];
    throw error;
  }
}

/** Puts `content` in the place of the file, or of nothing, in one step. */
export function replaceFile(file: string, content: string): void {
  attempt(file, content, (temporary) => fs.renameSync(temporary, file));
}

/** The same for a file that must not exist yet. False if it does; it is left unchanged. */
export function createFile(file: string, content: string): boolean {
  let isNew = true;
  attempt(file, content, (temporary) => {
    try {
      // Unlike a rename, this never replaces a file that another process has made at the same moment.
      fs.linkSync(temporary, file);
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
      isNew = false;
    }
    fs.rmSync(temporary, { force: true });
  });
  return isNew;
}

function attempt(file: string, content: string, putInPlace: (temporary: string) => void): void {
  for (let rest = ATTEMPTS; ; rest--) {
    const temporary = temporaryOf(file);
    try {
      fs.writeFileSync(temporary, content, { mode: FILE_MODE, flush: true });
      putInPlace(temporary);
      syncFolder(path.dirname(file));
      return;
    } catch (error) {
      fs.rmSync(temporary, { force: true });
      if (codeOf(error) !== 'ENOENT' || rest <= 1) throw error;
    }
  }
}

/** Like `replaceFile`, without holding up the thread. @param isSynced false spares the disk if losing it is no loss */
export async function replaceFileLater(file: string, content: string, isSynced = true): Promise<void> {
  const temporary = temporaryOf(file);
  try {
    const handle = await open(temporary, 'wx', FILE_MODE);
    try {
      await handle.writeFile(content);
      if (isSynced) await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {});
    throw error;
  }
  if (isSynced) await syncFolderLater(path.dirname(file));
}

/** Moves a file that is complete and synced to its place, whose folder may be missing, or be removed by `removeFromPlace`. */
export async function moveIntoPlace(temporary: string, target: string): Promise<void> {
  const dir = path.dirname(target);
  for (let rest = MOVE_ATTEMPTS; ; rest--) {
    try {
      await makeFolderLater(dir);
      await rename(temporary, target);
      break;
    } catch (error) {
      if (codeOf(error) !== 'ENOENT' || rest <= 1 || !fs.existsSync(temporary)) throw error;
    }
  }
  await syncNearest(dir);
}

/** Removes a file for good, and the folders below `root` that it leaves empty. A missing file is no error. */
export async function removeFromPlace(file: string, root: string): Promise<void> {
  const dir = path.dirname(file);
  try {
    await rm(file);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(codeOf(error) ?? '')) return;
    throw error;
  }
  try {
    for (let folder = dir; folder !== root; folder = path.dirname(folder)) await rmdir(folder);
  } catch {
    // It holds something, or another process removes it at this moment, and those above it.
  }
  await syncNearest(dir);
}

/** Syncs a folder, or if it has been removed the one that it was in. */
async function syncNearest(dir: string): Promise<void> {
  try {
    await syncFolderLater(dir);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
    await syncNearest(path.dirname(dir));
  }
}

/** Makes changes to the names in a folder outlive a power failure. */
export function syncFolder(dir: string): void {
  const descriptor = fs.openSync(dir, 'r');
  try {
    fs.fsyncSync(descriptor);
  } catch (error) {
    ignoreUnsyncable(error);
  } finally {
    fs.closeSync(descriptor);
  }
}

export async function syncFolderLater(dir: string): Promise<void> {
  const handle: FileHandle = await open(dir, 'r');
  try {
    await handle.sync();
  } catch (error) {
    ignoreUnsyncable(error);
  } finally {
    await handle.close();
  }
}

/** Some file systems cannot sync folders, and need not. */
function ignoreUnsyncable(error: unknown): void {
  if (!['EINVAL', 'ENOTSUP', 'EBADF'].includes(codeOf(error) ?? '')) throw error;
}
