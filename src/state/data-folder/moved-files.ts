// SPDX-License-Identifier: Apache-2.0
//
// Files of earlier versions whose contents are in the database now. They stay, under another name, and a file in their place
// keeps earlier programs from starting without them.
import fs from 'node:fs';
import path from 'node:path';
import { createFile, makeFolder, replaceFile, syncFolder } from './durable-file.js';

export const MOVED_SUFFIX = '.moved-to-database';

/** Earlier programs know version 1, refuse any other, and name the file. */
const marker = `${JSON.stringify({ version: 2, note: 'The contents of these files are in the database now.' })}\n`;

/** Call it before anything is taken over: later changes of an earlier program would be lost. */
export function refuseEarlierPrograms(file: string): void {
  if (fs.existsSync(file)) return;
  makeFolder(path.dirname(file));
  createFile(file, marker);
}

/** Puts the mark in the place of the file itself, whose contents are elsewhere already. */
export const markAsMoved = (file: string): void => replaceFile(file, marker);

/** Call it once their contents are in the database. Files of one folder. */
export function setAside(files: readonly string[]): void {
  for (const file of files) fs.renameSync(file, `${file}${MOVED_SUFFIX}`);
  if (files[0] !== undefined) syncFolder(path.dirname(files[0]));
}
