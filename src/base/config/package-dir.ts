// SPDX-License-Identifier: Apache-2.0
import fs from 'node:fs';
import path from 'node:path';

function folderWithPackageJson(start: string): string {
  let folder = start;
  while (!fs.existsSync(path.join(folder, 'package.json'))) folder = path.dirname(folder);
  return folder;
}

/** The package's folder, found by its package.json: the depth differs between `dist` and the tests' build. */
export const packageDir = folderWithPackageJson(import.meta.dirname);

/** Whether npm has installed the package there, in place of a clone or an image. */
export const isInstalledIn = (dir: string): boolean => dir.split(path.sep).includes('node_modules');

const description = JSON.parse(fs.readFileSync(path.join(packageDir, 'package.json'), 'utf8')) as {
  readonly version: string;
};
export const packageVersion = description.version;

function builtFrom(): string {
  try {
    return fs.readFileSync(path.join(packageDir, 'dist/commit'), 'utf8').trim();
  } catch {
    return 'unknown';
  }
}

/** The commit of the build, in 12 digits, ending in `-dirty` if files differed from it; `unknown` without Git. */
export const packageCommit = builtFrom();
