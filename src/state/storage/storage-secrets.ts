// SPDX-License-Identifier: Apache-2.0
import { createHmac, randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { createFile, makeFolder } from '../data-folder/durable-file.js';
import { formatVersion, NewerFormatError } from '../data-folder/format-version.js';
import { newSecret, OtherSecret } from './shared-secret.js';

/** A pair that signs links and requests. */
export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** Secrets that sign the embedded storage's links, and hide an account's objects from others. */
export interface StorageSecrets extends Credentials {
  readonly accountSecret: string;
  /** Their signatures are still valid. */
  readonly earlierCredentials?: readonly Credentials[];
}

/** Of the file. */
const VERSION = 1;
const pair = ['accessKeyId', 'secretAccessKey'] as const;

export const fileIn = (dataDir: string): string => path.join(dataDir, 'storage.json');

/**
 * The secrets in `<dataDir>/storage.json`, made at the first start. Without the file, objects of the data folder cannot be reached, nor
 * those in a bucket unless a database or a setting has the secret.
 * @param set by a setting
 * @throws Error that names the file when it is damaged; OtherSecret when it has another secret than the setting
 */
export function loadStorageSecrets(dataDir: string, set?: string): StorageSecrets {
  const found = findStorageSecrets(dataDir);
  if (found !== undefined) return checked(found, set);
  createSecrets(fileIn(dataDir), set ?? newSecret());
  // If a server started at the same moment was faster, its secrets are taken.
  const made = findStorageSecrets(dataDir);
  if (made === undefined) throw new Error(`${fileIn(dataDir)} has vanished.`);
  return checked(made, set);
}

function checked(secrets: StorageSecrets, set: string | undefined): StorageSecrets {
  if (set === undefined || set === secrets.accountSecret) return secrets;
  throw new OtherSecret(
    'VERAVOX_STORAGE_SECRET is another one than the accountSecret in storage.json of the data folder, with which its files were ' +
      'stored. Set that one, or none; or move storage.json to another place if its files are no longer needed.',
  );
}

/** The secrets of an earlier start. @throws Error that names the file if it is damaged */
export function findStorageSecrets(dataDir: string): StorageSecrets | undefined {
  const file = fileIn(dataDir);
  if (!fs.existsSync(file)) return undefined;
  try {
    const value = JSON.parse(fs.readFileSync(file, 'utf8')) as Record<string, unknown>;
    formatVersion(value, VERSION);
    checkTexts(value, [...pair, 'accountSecret']);
    checkEarlier(value);
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

/**
 * The secrets as an operator has changed them, with the same `accountSecret` as before.
 * @throws Error that says what is wrong with the file
 */
export function readSecretsAnew(dataDir: string, accountSecret: string): StorageSecrets {
  const found = findStorageSecrets(dataDir);
  if (found === undefined) throw new Error(`${fileIn(dataDir)} has vanished.`);
  if (found.accountSecret === accountSecret) return found;
  throw new Error(
    `The accountSecret in ${fileIn(dataDir)} has changed. Expected the one before: stored files cannot be found with another.`,
  );
}

function checkTexts(value: Record<string, unknown>, fields: readonly string[], place = ''): void {
  for (const field of fields) {
    const secret = value[field];
    if (typeof secret !== 'string' || secret.length < 16) {
      throw new Error(`Expected a text of at least 16 characters for ${place}${field}.`);
    }
  }
}

function checkEarlier({ accessKeyId, earlierCredentials: earlier }: Record<string, unknown>): void {
  if (earlier === undefined) return;
  if (!Array.isArray(earlier)) throw new Error('Expected a list for earlierCredentials.');
  const ids = new Set([accessKeyId]);
  for (const [i, credentials] of earlier.entries()) {
    const place = `earlierCredentials[${i}].`;
    checkTexts((credentials ?? {}) as Record<string, unknown>, pair, place);
    const id = (credentials as Credentials).accessKeyId;
    if (ids.has(id))
      throw new Error(`Expected another accessKeyId for ${place}accessKeyId: ${id} is there twice.`);
    ids.add(id);
  }
}

function createSecrets(file: string, accountSecret: string): void {
  const secrets: StorageSecrets = {
    accessKeyId: `VX${randomBytes(9).toString('hex').toUpperCase()}`,
    secretAccessKey: randomBytes(30).toString('base64url'),
    accountSecret,
  };
  makeFolder(path.dirname(file));
  createFile(file, `${JSON.stringify({ version: VERSION, ...secrets }, undefined, 2)}\n`);
}

/** The first part of the names of an account's objects: stable, and not guessable from the account's name. */
export function accountFolder(
  { accountSecret }: Pick<StorageSecrets, 'accountSecret'>,
  account: string,
): string {
  return createHmac('sha256', accountSecret).update(`account:${account}`).digest('hex').slice(0, 32);
}
