// SPDX-License-Identifier: Apache-2.0
import { execFileSync } from 'node:child_process';

const tar = (...args: readonly string[]): string =>
  execFileSync('tar', args, { encoding: 'utf8', maxBuffer: 2 ** 26 });

/** The text of a file in a tarball. */
export const tarEntry = (tarball: string, name: string): string =>
  tar('--extract', '--to-stdout', '--file', tarball, name);

/** The names of all files in a package's tarball, without its first folder. */
export const packedFiles = (tarball: string): string[] =>
  tar('--list', '--file', tarball)
    .trim()
    .split('\n')
    .map((name) => name.replace(/^package\//, ''));
