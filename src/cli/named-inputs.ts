// SPDX-License-Identifier: Apache-2.0
import { realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { glob } from 'tinyglobby';
import { mediaFormats } from '../base/errors/media-formats.js';
import { STANDARD_INPUT } from './standard-input.js';

/** What a folder is searched for; a file that is named is tried whatever it is called. */
const mediaExtensions = mediaFormats.flatMap(({ extensions }) => extensions).sort();

/** A file to analyse, or why an argument stands for none. */
export type NamedInput =
  | { readonly file: string; readonly problem?: undefined }
  | { readonly file: string; readonly problem: string };

/**
 * The files that arguments stand for, each once: a file or `-` as it is, a folder for the media files in it and in the
 * folders below, a pattern for the files that it fits. What exists by a name is never taken for a pattern.
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
    const problem = `This folder has no file with an extension of audio or video: ${mediaExtensions.join(', ')}.`;
    return found.length === 0 ? [{ file: argument, problem }] : found;
  }
  if (status !== undefined || !/[*?{[]/.test(argument)) return [{ file: argument }];
  const found = await filesIn(argument, '.');
  return found.length === 0 ? [{ file: argument, problem: 'No file fits this pattern.' }] : found;
}

const depthOf = (name: string): number => name.split('/').length;

async function filesIn(pattern: string, folder: string): Promise<NamedInput[]> {
  const names = await glob(pattern, { cwd: folder, caseSensitiveMatch: false, expandDirectories: false });
  // A link to a folder above leads to the same files again: each is kept by its shortest name.
  const byPlace = new Map<string, string>();
  for (const name of names.sort((a, b) => depthOf(a) - depthOf(b))) {
    const file = path.isAbsolute(name) ? name : path.join(folder, name);
    const place = await realpath(file).catch(() => file);
    if (!byPlace.has(place)) byPlace.set(place, file);
  }
  return [...byPlace.values()].sort().map((file) => ({ file }));
}
