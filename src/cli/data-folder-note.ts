// SPDX-License-Identifier: Apache-2.0
import { type Shown, shown } from '../base/errors/shown-text.js';
import { isDataFolderInUse } from '../state/data-folder/data-folder.js';
import { tell } from './output.js';

/** The folder that a command used, and whether a server also uses it. */
function describeDataFolder(dataDir: string): Shown {
  const server = isDataFolderInUse(dataDir) ? 'in use by a server' : 'not in use by a server';
  return shown`Data folder: ${dataDir} (${server})\n`;
}

/** On standard error, because programs read the output. */
export function noteDataFolder(dataDir: string): void {
  tell(describeDataFolder(dataDir));
}
