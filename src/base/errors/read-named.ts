// SPDX-License-Identifier: Apache-2.0
import { readFile } from 'node:fs/promises';

/** Reads a file that a person has named. Errors have its path, which Node leaves out of some, such as those on folders. */
export const readNamed = (file: string): Promise<Buffer> =>
  readFile(file).catch((error: Error) => Promise.reject(Object.assign(error, { path: file })));
