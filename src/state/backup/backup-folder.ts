// SPDX-License-Identifier: Apache-2.0
//
// This room copies what a server keeps to a folder, while it goes on working, and back into an empty data folder.
import { createReadStream, createWriteStream, constants as fsConstants, type Stats } from 'node:fs';
import {
  access,
  copyFile,
  open,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  stat,
  utimes,
  writeFile,
} from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { packageVersion } from '../../base/config/package-dir.js';
import { incomingFolder, ownDataFolder } from '../data-folder/data-folder.js';
import { makeFolderLater, syncFolderLater, TEMPORARY_SUFFIX } from '../data-folder/durable-file.js';
import { formatVersion } from '../data-folder/format-version.js';
import { markRestore, unmarkRestore } from '../data-folder/restore-mark.js';
import { backUp } from '../database/backup.js';
import type { Database, Dialect } from '../database/database.js';
import { databaseFile } from '../database/open-database.js';
import { auditDir, chainFiles, withChain } from '../records/audit-chain.js';

const VERSION = 1;
const NOTE = 'backup.json';
const OBJECTS = 'objects';
const UNSENT_USAGE = 'unsent-usage';
const HEAD = 'head.json';
/** Copied in an order of their own, or counted anew at each start; and a key, which backups otherwise know as a hash only. */
const special = new Set(['audit', OBJECTS, UNSENT_USAGE, 'quota', 'first-key']);
/** Belongs to a file system, in its top folder; only root can read it. */
const LOST_AND_FOUND = 'lost+found';

/** The content of a backup's own file, which makes it complete. */
export interface BackupNote {
  /** Of the database that the server used; a backup has the file of SQLite only. */
  readonly database: Dialect;
  readonly createdAt: string;
  readonly veravox: string;
  /** Without the database. */
  readonly files: number;
}

/** A finished copy. */
export interface Copied {
  readonly note: BackupNote;
  /** Neither files nor folders, nor links to one. */
  readonly leftOut: readonly string[];
}

export interface BackupRequest {
  readonly dataDir: string;
  readonly database: Database;
  /** Must not exist yet. */
  readonly target: string;
  readonly withObjects: boolean;
}

/**
 * Writes everything that a server keeps in its data folder to a new folder, which is there as a whole or not at all. Others may go on
 * writing. The database is of one moment; files that it knows are copied after it, so that none is missing.
 * @throws Error when the target exists or lies in the data folder
 */
export async function writeBackup({
  dataDir,
  database,
  target,
  withObjects,
}: BackupRequest): Promise<Copied> {
  if (isWithin(target, dataDir)) throw new Error(`${target} is in the data folder. Name another folder.`);
  if (await exists(target)) throw new Error(`${target} exists already. Name a new folder.`);
  await access(path.dirname(target));
  const folder = `${target}.${process.pid}${TEMPORARY_SUFFIX}`;
  try {
    await makeFolderLater(folder);
    const copy = new Copy();
    // First: counts leave this folder for the database, which recognises repeated ones.
    await copy.folder(path.join(dataDir, UNSENT_USAGE), path.join(folder, UNSENT_USAGE));
    if (database.dialect === 'sqlite') await backUp(database, databaseFile(folder));
    await copy.folder(dataDir, folder, (name) => special.has(name) || isOfDatabase(name));
    if (withObjects) {
      const incoming = path.basename(incomingFolder(dataDir));
      await copy.folder(path.join(dataDir, OBJECTS), path.join(folder, OBJECTS), (name) => name === incoming);
    }
    await copyAudit(auditDir(dataDir), auditDir(folder), copy);
    const note: BackupNote = {
      database: database.dialect,
      createdAt: new Date().toISOString(),
      veravox: packageVersion,
      files: copy.files,
    };
    const text = `${JSON.stringify({ version: VERSION, ...note }, undefined, 2)}\n`;
    await writeFile(path.join(folder, NOTE), text, { mode: 0o600, flush: true });
    await syncFolderLater(folder);
    await rename(folder, target);
    await syncFolderLater(path.dirname(target));
    return { note, leftOut: copy.leftOut };
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

/**
 * Fills an empty data folder from a backup. A server can start with it afterwards.
 * @throws Error when the backup is incomplete or the data folder has anything in it
 */
export async function restoreBackup(source: string, dataDir: string): Promise<Copied> {
  const note = await readNote(source);
  const owned = await ownDataFolder(dataDir);
  try {
    const found = (await readdir(dataDir)).filter(
      (name) => !name.endsWith('.lock') && name !== LOST_AND_FOUND,
    );
    if (found.length > 0) {
      throw new Error(
        `The data folder ${dataDir} is not empty: it has ${found[0]}. Move its content away, or set VERAVOX_DATA_DIR to another folder.`,
      );
    }
    markRestore(dataDir, source);
    const copy = new Copy();
    await copy.folder(source, dataDir, (name) => name === NOTE || isOfDatabase(name));
    if (copy.files !== note.files) {
      throw new Error(
        `${source} has ${copy.files} files, but its backup wrote ${note.files}: it is incomplete, and so is ${dataDir} now.`,
      );
    }
    if (note.database === 'sqlite') await copy.file(databaseFile(source), databaseFile(dataDir));
    await syncFolderLater(dataDir);
    unmarkRestore(dataDir);
    return { note, leftOut: copy.leftOut };
  } finally {
    owned.release();
  }
}

async function readNote(source: string): Promise<BackupNote> {
  const file = path.join(source, NOTE);
  if ((await exists(source)) && !(await exists(file))) {
    throw new Error(`${source} is no backup: it has no ${NOTE}.`);
  }
  const value = JSON.parse(await readFile(file, 'utf8')) as Record<string, unknown>;
  formatVersion(value, VERSION);
  const note = value as unknown as BackupNote;
  if (note.database === 'sqlite') await access(databaseFile(source));
  return note;
}

/** The audit as it is at one moment: its files only grow. */
async function copyAudit(dir: string, target: string, copy: Copy): Promise<void> {
  if (!(await exists(dir))) return;
  await makeFolderLater(target);
  const files = await withChain(dir, async () => {
    await copy.file(path.join(dir, HEAD), path.join(target, HEAD));
    return chainFiles(dir);
  });
  for (const { file, bytes } of files) await copy.file(path.join(dir, file), path.join(target, file), bytes);
  await syncFolderLater(target);
}

/** Follows links. Files that vanish meanwhile are left out: somebody has deleted them. */
class Copy {
  files = 0;
  readonly leftOut: string[] = [];

  /**
   * @param isLeftOut names in the folder itself
   * @param above folders that it was reached through
   */
  async folder(
    source: string,
    target: string,
    isLeftOut: (name: string) => boolean = () => false,
    above: readonly string[] = [],
  ): Promise<void> {
    const real = await realpath(source).catch(ignoreMissing(''));
    const entries = await readdir(source, { withFileTypes: true }).catch(ignoreMissing([]));
    if (entries.length === 0) return;
    await makeFolderLater(target);
    const folders = [...above, real];
    for (const entry of entries) {
      const { name } = entry;
      if (isLeftOut(name) || name === LOST_AND_FOUND) continue;
      if (name.endsWith('.lock') || name.endsWith(TEMPORARY_SUFFIX)) continue;
      const [from, to] = [path.join(source, name), path.join(target, name)];
      const found = entry.isSymbolicLink() ? await behindLink(from, folders) : entry;
      if (found?.isDirectory()) await this.folder(from, to, () => false, folders);
      else if (found?.isFile()) await this.file(from, to);
      else this.leftOut.push(from);
    }
    await syncFolderLater(target);
  }

  /** @param bytes of it; all by default */
  async file(source: string, target: string, bytes?: number): Promise<void> {
    try {
      if (bytes === undefined) {
        await copyFile(source, target, fsConstants.COPYFILE_EXCL | fsConstants.COPYFILE_FICLONE);
        // The age of a stored file, after which it is removed. A file that has taken its place since is not older.
        const { atime, mtime } = await stat(source);
        await utimes(target, atime, mtime);
      } else if (bytes === 0) await writeFile(target, '', { mode: 0o600 });
      else
        await pipeline(
          createReadStream(source, { end: bytes - 1 }),
          createWriteStream(target, { mode: 0o600 }),
        );
    } catch (error) {
      await rm(target, { force: true });
      return ignoreMissing(undefined)(error);
    }
    await syncFile(target);
    this.files++;
  }
}

/** Undefined for a link that leads nowhere, or back to a folder that it was reached through. */
async function behindLink(link: string, folders: readonly string[]): Promise<Stats | undefined> {
  try {
    const target = await realpath(link);
    return folders.some((folder) => isWithin(folder, target)) ? undefined : await stat(target);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ELOOP') return undefined;
    return ignoreMissing(undefined)(error);
  }
}

const ignoreMissing =
  <Value>(instead: Value) =>
  (error: unknown): Value => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return instead;
    throw error;
  };

const isOfDatabase = (name: string): boolean => name.startsWith(path.basename(databaseFile('')));

function isWithin(file: string, folder: string): boolean {
  const relative = path.relative(path.resolve(folder), path.resolve(file));
  return relative === '' || !(relative.startsWith('..') || path.isAbsolute(relative));
}

const exists = (file: string): Promise<boolean> =>
  access(file).then(
    () => true,
    () => false,
  );

async function syncFile(file: string): Promise<void> {
  const handle = await open(file, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
