// SPDX-License-Identifier: Apache-2.0
//
// This room manages the data folder: its lock, durable files, files per day, and the formats of earlier
// versions.
import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { messageOf } from '../../base/errors/message-of.js';
import { makeFolder, namesIn, TEMPORARY_SUFFIX } from './durable-file.js';
import { FileLock } from './file-lock.js';
import { describeHolders } from './lock-holders.js';
import { refuseIncompleteRestore } from './restore-mark.js';

/** A command that asks whether a server is there holds the lock for a moment; a server that ends, for longer. */
const LOCK_PATIENCE_MS = 2000;
const RETRY_MS = 20;

/** Folders in which files are replaced as a whole, and may be left half-written under another name. */
const FOLDERS_WITH_TEMPORARIES = ['', 'audit', 'quota', 'crashes', 'unsent-usage'];

const lockFile = (dataDir: string): string => path.join(dataDir, 'server.lock');

/** Another server uses the folder. */
export class DataFolderInUse extends Error {
  override readonly name = 'DataFolderInUse';
}

/** The data folder of a server, which is this process's alone until it ends. */
export interface OwnedDataFolder {
  /**
   * The lock's descriptor. Processes that inherit it (in `stdio` of `spawn` or `fork`) share the lock: the folder is free again
   * when the last of them has ended. They must not call `ownDataFolder` themselves.
   */
  readonly lockDescriptor: number;
  release(): void;
}

/**
 * Makes the folder if it is missing, keeps other servers out, and removes half-written files of an earlier one. Call it once
 * per server, in its first process, before anything else touches the folder.
 * @throws DataFolderInUse, IncompleteRestore
 */
export async function ownDataFolder(dataDir: string): Promise<OwnedDataFolder> {
  makeDataFolder(dataDir);
  const lock = await takeLock(dataDir);
  try {
    refuseIncompleteRestore(dataDir);
  } catch (error) {
    lock.release();
    throw error;
  }
  fs.ftruncateSync(lock.descriptor);
  fs.writeSync(lock.descriptor, `${process.pid}\n`, 0);
  removeLeftovers(dataDir);
  return { lockDescriptor: lock.descriptor, release: () => lock.release() };
}

/** @throws Error that names the folder and the setting */
export function makeDataFolder(dataDir: string): void {
  try {
    makeFolder(dataDir);
  } catch (error) {
    throw new Error(
      `The data folder ${dataDir} cannot be created. ${messageOf(error)} Set VERAVOX_DATA_DIR to another folder.`,
      { cause: error },
    );
  }
}

/** Whether a server uses the folder at this moment. */
export const isDataFolderInUse = (dataDir: string): boolean => FileLock.isHeld(lockFile(dataDir));

async function takeLock(dataDir: string): Promise<FileLock> {
  const file = lockFile(dataDir);
  const deadlineMs = performance.now() + LOCK_PATIENCE_MS;
  for (;;) {
    const lock = FileLock.tryTake(file);
    if (lock !== undefined) return lock;
    if (performance.now() > deadlineMs) {
      throw new DataFolderInUse(
        `The data folder ${dataDir} is in use by another server (${describeHolders(file)}). ` +
          'Stop that one, or set VERAVOX_DATA_DIR to another folder.',
      );
    }
    await pause(RETRY_MS);
  }
}

function removeLeftovers(dataDir: string): void {
  for (const folder of FOLDERS_WITH_TEMPORARIES) {
    const dir = path.join(dataDir, folder);
    for (const name of namesIn(dir)) {
      if (name.endsWith(TEMPORARY_SUFFIX)) fs.rmSync(path.join(dir, name), { force: true });
    }
  }
  // The use of accounts is counted anew: a crash may have come between an object and its account.
  for (const name of namesIn(path.join(dataDir, 'quota'))) {
    if (name.endsWith('.json')) fs.rmSync(path.join(dataDir, 'quota', name), { force: true });
  }
  const incoming = incomingFolder(dataDir);
  for (const name of namesIn(incoming))
    fs.rmSync(path.join(incoming, name), { force: true, recursive: true });
}

/** The folder of incomplete uploads. */
export const incomingFolder = (dataDir: string): string => path.join(dataDir, 'objects', 'incoming');

/** A new name in it, which tells the process that receives the upload. */
export const incomingName = (): string => `${process.pid}.${randomUUID()}`;

/** Removes the incomplete uploads of a process of this server that has ended: nobody else would before the next start. */
export async function removeIncomingOf(dataDir: string, pid: number): Promise<void> {
  const incoming = incomingFolder(dataDir);
  const left = namesIn(incoming).filter((name) => name.startsWith(`${pid}.`));
  await Promise.all(left.map((name) => rm(path.join(incoming, name), { force: true })));
}
