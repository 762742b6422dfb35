// SPDX-License-Identifier: Apache-2.0
import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';

/** What the embedded storage signs its links with, and what hides one account's objects from another. */
export interface StorageSecrets {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly accountSecret: string;
}

const fields = ['accessKeyId', 'secretAccessKey', 'accountSecret'] as const;

/**
 * The secrets in `<dataDir>/storage.json`, made at the first start. Whoever loses the file loses the way to all stored
 * objects, also to those in S3; servers that share a bucket have to share it.
 * @throws Error that names the file when it is damaged
 */
export function loadStorageSecrets(dataDir: string): StorageSecrets {
  const file = path.join(dataDir, 'storage.json');
  if (!fs.existsSync(file)) createSecrets(file);
  try {
    const value = JSON.parse(fs.readFileSync(file, 'utf8')) as Record<string, unknown>;
    for (const field of fields) {
      const secret = value[field];
      if (typeof secret !== 'string' || secret.length < 16) throw new Error(`Expected a text for ${field}.`);
    }
    return value as unknown as StorageSecrets;
  } catch (error) {
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
  fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  const temporary = `${file}.${randomUUID()}.tmp`;
  fs.writeFileSync(temporary, `${JSON.stringify(secrets, undefined, 2)}\n`, { mode: 0o600, flush: true });
  try {
    // Unlike a rename, this never replaces the file of a server that was started at the same moment.
    fs.linkSync(temporary, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    fs.rmSync(temporary, { force: true });
  }
}

/** The first part of the names of an account's objects: stable, and not to be guessed from the account's name. */
export function accountFolder({ accountSecret }: StorageSecrets, account: string): string {
  return createHmac('sha256', accountSecret).update(`account:${account}`).digest('hex').slice(0, 32);
}
