// SPDX-License-Identifier: Apache-2.0
import fs from 'node:fs';
import path from 'node:path';

/** @throws Error if files cannot be made in the folder */
export function requireWritableFolder(folder: string): void {
  if (!fs.statSync(folder).isDirectory()) throw new Error(`${folder} is not a folder.`);
  fs.accessSync(folder, fs.constants.W_OK | fs.constants.X_OK);
}

/** @throws Error if a file of this name can be neither changed nor made */
export function requireWritable(file: string): void {
  const there = fs.statSync(file, { throwIfNoEntry: false });
  if (there?.isDirectory()) throw new Error(`Expected the name of a file but received the folder ${file}.`);
  if (there === undefined) requireWritableFolder(path.dirname(file));
  else fs.accessSync(file, fs.constants.W_OK);
}

/**
 * Links and other spellings name the same file.
 * @throws Error if an output is an input, or two outputs are one file
 */
export function refuseOverwriting(outputs: readonly string[], inputs: readonly string[]): void {
  const read = new Set(inputs.map(placeOf));
  const written = new Set<string>();
  for (const output of outputs) {
    const place = placeOf(output);
    if (read.has(place)) throw new Error(`Expected another file than ${output}, which is an input.`);
    if (written.has(place)) throw new Error(`Expected a file for each output, but ${output} is for two.`);
    written.add(place);
  }
}

/** Equal for all names of a file. */
function placeOf(file: string): string {
  const there = fs.statSync(file, { throwIfNoEntry: false });
  if (there !== undefined) return `${there.dev}:${there.ino}`;
  const folder = path.resolve(path.dirname(file));
  return path.join(fs.existsSync(folder) ? fs.realpathSync(folder) : folder, path.basename(file));
}
