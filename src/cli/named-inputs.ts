// SPDX-License-Identifier: Apache-2.0
import { realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { glob } from 'tinyglobby';
import { mediaFormats } from '../base/errors/media-formats.js';
import { STANDARD_INPUT } from './standard-input.js';

/** Extensions of files in folders; a file given by name is tried whatever its extension. */
const mediaExtensions = mediaFormats.flatMap(({ extensions }) => extensions).sort();

/** A file to analyse, or why an argument yields none. */
export type NamedInput =
  | { readonly file: string; readonly problem?: undefined }
  | { readonly file: string; readonly problem: string };

/**
 * The files that the arguments mean, each once: a file or `-` itself, a folder's media files including its subfolders, and a
 * pattern's matches. The name of an existing file is never read as a pattern.
 */
export async function namedInputs(given: readonly string[]): Promise<NamedInput[]> {
  const inputs = new Map<string, NamedInput>();
  for (const argument of given) {
    for (const input of await inputsOf(argument)) {
      if (!inputs.has(input.file)) inputs.set(input.file, input);
    }
  }
  return [...inputs.values()];
}

async function inputsOf(argument: string): Promise<NamedInput[]> {
  if (argument === STANDARD_INPUT) return [{ file: argument }];
  const status = await stat(argument).catch(() => undefined);
  if (status?.isDirectory()) {
    const found = await filesIn(`**/*.{${mediaExtensions.join(',')}}`, argument);
    const problem = `This folder has no audio or video files, by their extensions: ${mediaExtensions.join(', ')}.`;
    return found.length === 0 ? [{ file: argument, problem }] : found;
  }
  if (status !== undefined || !/[*?{[]/.test(argument)) return [{ file: argument }];
  const found = await filesIn(argument, '.');
  return found.length === 0 ? [{ file: argument, problem: 'No file matches this pattern.' }] : found;
}

const depthOf = (name: string): number => name.split('/').length;

async function filesIn(pattern: string, folder: string): Promise<NamedInput[]> {
  const names = await glob(pattern, { cwd: folder, caseSensitiveMatch: false, expandDirectories: false });
  // A symbolic link to a parent folder leads to the same files again: each keeps its shortest name.
  const byPlace = new Map<string, string>();
  for (const name of names.sort((a, b) => depthOf(a) - depthOf(b))) {
    const file = path.isAbsolute(name) ? name : path.join(folder, name);
    const place = await realpath(file).catch(() => file);
    if (!byPlace.has(place)) byPlace.set(place, file);
  }
  return [...byPlace.values()].sort().map((file) => ({ file }));
}
