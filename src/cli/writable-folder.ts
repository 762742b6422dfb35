// SPDX-License-Identifier: Apache-2.0
import fs from 'node:fs';

/** @throws Error if files cannot be made in the folder */
export function requireWritableFolder(folder: string): void {
  if (!fs.statSync(folder).isDirectory()) throw new Error(`${folder} is not a folder.`);
  fs.accessSync(folder, fs.constants.W_OK | fs.constants.X_OK);
}
