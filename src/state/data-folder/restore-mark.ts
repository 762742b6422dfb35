// SPDX-License-Identifier: Apache-2.0
import fs from 'node:fs';
import path from 'node:path';
import { createFile, syncFolder } from './durable-file.js';

/** Only a part of a backup is in the data folder. */
class IncompleteRestore extends Error {
  override readonly name = 'IncompleteRestore';
}

const markIn = (dataDir: string): string => path.join(dataDir, 'incomplete-restore');

/** From now on, the folder is refused. @param source the backup, for people */
export function markRestore(dataDir: string, source: string): void {
  createFile(markIn(dataDir), `${source}\n`);
}

/** Everything restored must be synced. */
export function unmarkRestore(dataDir: string): void {
  fs.rmSync(markIn(dataDir));
  syncFolder(dataDir);
}

/**
 * With a part of its files, a server would start as if the others had never been.
 * @throws IncompleteRestore
 */
export function refuseIncompleteRestore(dataDir: string): void {
  if (!fs.existsSync(markIn(dataDir))) return;
  const source = fs.readFileSync(markIn(dataDir), 'utf8').trim();
  throw new IncompleteRestore(
    `The data folder ${dataDir} has only a part of the backup ${source}. Wait for the end of veravox restore; if it was interrupted, ` +
      'empty the folder and restore again.',
  );
}
