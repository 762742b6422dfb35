// SPDX-License-Identifier: Apache-2.0
import fs from 'node:fs';
import { messageOf } from '../errors/message-of.js';
import type { Option } from './option.js';

/** Of the variable that names a file with a secret setting, as orchestrators mount them. */
export const FILE_SUFFIX = '_FILE';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The text of a setting; empty if it is not set.
 * @throws Error for people when its file cannot be read or is empty, or when it is set twice
 */
export function textOf({ variable, isSecret }: Option<unknown>, env: Environment): string {
  const text = env[variable]?.trim() ?? '';
  const fileVariable = `${variable}${FILE_SUFFIX}`;
  const file = isSecret ? (env[fileVariable]?.trim() ?? '') : '';
  if (file === '') return text;
  if (text !== '') throw new Error(`Expected one of ${variable} and ${fileVariable} but received both.`);
  const secret = readSecret(file, fileVariable);
  // It may be about to be written: counted as not set, it would start a server with another database.
  if (secret === '') throw new Error(`Expected a text in the file for ${fileVariable}, which is empty.`);
  return secret;
}

function readSecret(file: string, fileVariable: string): string {
  try {
    return fs.readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw new Error(`Expected a file for ${fileVariable} that can be read. ${messageOf(error)}`);
  }
}
