// SPDX-License-Identifier: Apache-2.0
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { Surroundings } from './option.js';

/** The data folder of an installed program, by the XDG base directories, independent of the working directory. */
export function stateDirIn(env: Readonly<Record<string, string | undefined>>): string {
  // The specification requires that relative paths be ignored.
  const given = env.XDG_STATE_HOME ?? '';
  const base = path.isAbsolute(given) ? given : path.join(env.HOME || os.homedir(), '.local', 'state');
  return path.join(base, 'veravox');
}

/** Next to the program's own files, unless npm installed them: it may replace its folders at any time. */
export function defaultDataDir({
  packageDir,
  stateDir,
}: Pick<Surroundings, 'packageDir' | 'stateDir'>): string {
  const isInstalled = packageDir.split(path.sep).includes('node_modules');
  return isInstalled ? stateDir : path.join(packageDir, 'data');
}

/**
 * A folder `data` in the working directory with keys in it, which earlier versions used without being told to.
 * @returns a hint for the operator; undefined if there is no such folder
 */
export function hintOfOtherDataDir(dataDir: string, workingDir = process.cwd()): string | undefined {
  const other = path.join(workingDir, 'data');
  if (other === dataDir || !fs.existsSync(path.join(other, 'keys'))) return undefined;
  return `${other} looks like a data folder, but ${dataDir} is used. To use the first, set VERAVOX_DATA_DIR=${other}.`;
}
