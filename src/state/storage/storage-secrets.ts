// SPDX-License-Identifier: Apache-2.0
import { createHmac, randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { createFile, makeFolder } from '../data-folder/durable-file.js';
import { formatVersion, NewerFormatError } from '../data-folder/format-version.js';

/** What the embedded storage signs its links with, and what hides one account's objects from another. */
export interface StorageSecrets {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly accountSecret: string;
}

/** Of the file. */
const VERSION = 1;
const fields = ['accessKeyId', 'secretAccessKey', 'accountSecret'] as const;

/**
 * The secrets in `<dataDir>/storage.json`, made at the first start. Without the file stored objects cannot
 * be reached, not even those in S3; servers that share a bucket have to share it.
 * @throws Error that names the file when it is damaged
 */
export function loadStorageSecrets(dataDir: string): StorageSecrets {
  const file = path.join(dataDir, 'storage.json');
  if (!fs.existsSync(file)) createSecrets(file);
  try {
    const value = JSON.parse(fs.readFileSync(file, 'utf8')) as Record<string, unknown>;
    formatVersion(value, VERSION);
    for (const field of fields) {
      const secret = value[field];
      if (typeof secret !== 'string' || secret.length < 16) throw new Error(`Expected a text for ${field}.`);
    }
    return value as unknown as StorageSecrets;
  } catch (error) {
    if (error instanceof NewerFormatError) {
      throw new Error(`The storage secrets in ${file} cannot be read: ${error.message}`, { cause: error });
    }
    throw new Error(
      `The storage secrets in ${file} are damaged: ${(error as Error).message} Restore the file; without it the stored objects cannot be reached.`,
      { cause: error },
    );
  }
}

function createSecrets(file: string): void {
  const secrets: StorageSecrets = {
    accessKeyId: `VX${randomBytes(9).toString('hex').toUpperCase()}`,
    secretAccessKey: randomBytes(30).toString('base64url'),
    accountSecret: randomBytes(32).toString('hex'),
  };
  makeFolder(path.dirname(file));
  // Where a server that was started at the same moment was faster, its secrets are taken.
  createFile(file, `${JSON.stringify({ version: VERSION, ...secrets }, undefined, 2)}\n`);
}

/** The first part of the names of an account's objects: stable, and not to be guessed from the account's name. */
export function accountFolder({ accountSecret }: StorageSecrets, account: string): string {
  return createHmac('sha256', accountSecret).update(`account:${account}`).digest('hex').slice(0, 32);
}
