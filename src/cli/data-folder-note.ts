// SPDX-License-Identifier: Apache-2.0
import { hintOfOtherDataDir } from '../base/config/data-dir.js';
import { isDataFolderInUse } from '../state/data-folder/data-folder.js';

/** Where a command has written, and whether that reaches a server. */
function describeDataFolder(dataDir: string): string {
  const server = isDataFolderInUse(dataDir) ? 'a server uses it' : 'no server uses it at the moment';
  const hint = hintOfOtherDataDir(dataDir);
  return `Data folder: ${dataDir} (${server})\n${hint === undefined ? '' : `Note: ${hint}\n`}`;
}

/** On standard error, so that the output stays what programs expect. */
export function noteDataFolder(dataDir: string): void {
  process.stderr.write(describeDataFolder(dataDir));
}
