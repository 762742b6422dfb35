// SPDX-License-Identifier: Apache-2.0
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
