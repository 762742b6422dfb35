// SPDX-License-Identifier: Apache-2.0
import os from 'node:os';
import path from 'node:path';
import type { Surroundings } from './option.js';
import { isInstalledIn } from './package-dir.js';

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
  return isInstalledIn(packageDir) ? stateDir : path.join(packageDir, 'data');
}
