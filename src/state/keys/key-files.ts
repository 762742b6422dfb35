// SPDX-License-Identifier: Apache-2.0
//
// API keys as they were kept before there was a database: one file per key, `<dataDir>/keys/<id>.json`.
import fs from 'node:fs';
import path from 'node:path';
import { MAX_RATE_WINDOW_S } from '../../base/contract/key-limits.js';
import { scopes } from '../../base/contract/scopes.js';
import { namesIn } from '../data-folder/durable-file.js';
import { formatVersion, NewerFormatError } from '../data-folder/format-version.js';
import { refuseEarlierPrograms, setAside } from '../data-folder/moved-files.js';
import { DEFAULT_ACCOUNT, isAccount, type RateLimit, type StoredKey } from './api-key.js';
import type { KeyRegistry } from './key-registry.js';

/** A key file cannot be used; the message names it and the fault. */
export class KeyFileError extends Error {
  override readonly name = 'KeyFileError';
}

/** Of key files. */
const VERSION = 1;

const MARKER = 'moved-to-database.json';

const folderOf = (dataDir: string): string => path.join(dataDir, 'keys');

/** Key files that are not in the database yet. */
export const keyFilesIn = (dataDir: string): string[] =>
  namesIn(folderOf(dataDir))
    .filter((name) => name.endsWith('.json') && name !== MARKER)
    .map((name) => path.join(folderOf(dataDir), name));

/**
 * Puts the keys of the files into the database and sets the files aside. Repeating it changes nothing, so it may be killed
 * at any point.
 * @throws KeyFileError for the first that is damaged; then nothing has changed
 */
export async function takeOverKeyFiles(dataDir: string, registry: KeyRegistry): Promise<number> {
  const files = keyFilesIn(dataDir);
  const keys = files.map(readKey);
  refuseEarlierPrograms(path.join(folderOf(dataDir), MARKER));
  if (files.length === 0) return 0;
  await registry.add(keys);
  setAside(files);
  return files.length;
}

/** @throws KeyFileError, or the file system's error if it cannot be read */
export function readKey(file: string): StoredKey {
  try {
    return checkedKey(JSON.parse(fs.readFileSync(file, 'utf8')), path.basename(file, '.json'));
  } catch (error) {
    if (error instanceof NewerFormatError) {
      throw new KeyFileError(`The API key file ${file} cannot be read: ${error.message}`, { cause: error });
    }
    throw new KeyFileError(
      `The API key file ${file} is damaged: ${(error as Error).message} Restore it, or delete it to drop the key.`,
      { cause: error },
    );
  }
}

function checkedKey(value: unknown, expectedId: string): StoredKey {
  const fields = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>;
  // Key files written before there were accounts have none.
  const { id, name, secretSha256, account = DEFAULT_ACCOUNT } = fields;
  formatVersion(value, VERSION);
  if (id !== expectedId) throw new Error(`Expected ${expectedId} for id.`);
  if (typeof name !== 'string') throw new Error('Expected a text for name.');
  if (typeof account !== 'string' || !isAccount(account)) {
    throw new Error('Expected lower-case letters, digits and hyphens for account.');
  }
  if (typeof secretSha256 !== 'string' || !/^[0-9a-f]{64}$/.test(secretSha256)) {
    throw new Error('Expected 64 hexadecimal digits for secretSha256.');
  }
  if (!Array.isArray(fields.scopes) || !fields.scopes.every((scope) => scopes.includes(scope))) {
    throw new Error(`Expected a list of ${scopes.join(', ')} for scopes.`);
  }
  const { rate, concurrency } = fields;
  if (rate !== undefined && !isRate(rate)) {
    throw new Error(`Expected requests and a windowS of 1 to ${MAX_RATE_WINDOW_S} for rate.`);
  }
  if (concurrency !== undefined && !isCount(concurrency)) {
    throw new Error('Expected a whole number for concurrency.');
  }
  const expiresAt = optionalDate(fields, 'expiresAt');
  const revokedAt = optionalDate(fields, 'revokedAt');
  return {
    id: expectedId,
    name,
    account,
    scopes: fields.scopes,
    ...(rate && { rate: { requests: rate.requests, windowS: rate.windowS } }),
    ...(concurrency !== undefined && { concurrency }),
    secretSha256,
    createdAt: date(fields, 'createdAt'),
    ...(expiresAt && { expiresAt }),
    ...(revokedAt && { revokedAt }),
  };
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;

function isRate(value: unknown): value is RateLimit {
  if (typeof value !== 'object' || value === null) return false;
  const { requests, windowS } = value as Record<string, unknown>;
  return isCount(requests) && isCount(windowS) && windowS >= 1 && windowS <= MAX_RATE_WINDOW_S;
}

function optionalDate(fields: Record<string, unknown>, name: string): Date | undefined {
  return fields[name] === undefined ? undefined : date(fields, name);
}

function date(fields: Record<string, unknown>, name: string): Date {
  const value = fields[name];
  const parsed = typeof value === 'string' ? new Date(value) : undefined;
  if (parsed === undefined || Number.isNaN(parsed.getTime())) throw new Error(`Expected a date for ${name}.`);
  return parsed;
}
