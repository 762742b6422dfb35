// SPDX-License-Identifier: Apache-2.0

import fs from 'node:fs';
import path from 'node:path';
import { type Scope, scopes } from '../../base/contract/scopes.js';
import { makeFolder, replaceFile } from '../data-folder/durable-file.js';
import { formatVersion, NewerFormatError } from '../data-folder/format-version.js';
import {
  DEFAULT_ACCOUNT,
  digestOfSecret,
  formatKey,
  isAccount,
  isKeyId,
  MAX_RATE_WINDOW_S,
  newKeyParts,
  type RateLimit,
  type StoredKey,
} from './api-key.js';

/** The keys on disk cannot be used; the message names the file and what is wrong with it. */
export class KeyFileError extends Error {
  override readonly name = 'KeyFileError';
}

export interface NewKey {
  readonly name: string;
  /** DEFAULT_ACCOUNT when absent. */
  readonly account?: string;
  readonly scopes: readonly Scope[];
  readonly rate?: RateLimit;
  readonly concurrency?: number;
  readonly expiresAt?: Date;
}

export interface CreatedKey {
  readonly key: StoredKey;
  /** As its owner sends it; kept nowhere. */
  readonly text: string;
}

/**
 * API keys on disk: one file per key, `<dataDir>/keys/<id>.json`. Each file is written whole under another name and
 * then renamed, so that processes that create and revoke keys at the same time neither lose one another's work nor
 * need a lock, and a reader never sees half a file.
 */
export class KeyDirectory {
  readonly dir: string;

  constructor(dataDir: string) {
    this.dir = path.join(dataDir, 'keys');
  }

  /** Stores a new key. Its text form is returned this once and kept nowhere. */
  create(wanted: NewKey, now = new Date()): CreatedKey {
    const { id, secret } = newKeyParts();
    const secretSha256 = digestOfSecret(secret).toString('hex');
    const key: StoredKey = { id, account: DEFAULT_ACCOUNT, ...wanted, secretSha256, createdAt: now };
    this.#write(key);
    return { key, text: formatKey(id, secret) };
  }

  /** Marks a key as revoked for good. False if there is no such key; revoking twice keeps the first time. */
  revoke(id: string, now = new Date()): boolean {
    const file = this.fileOf(id);
    if (!isKeyId(id) || !fs.existsSync(file)) return false;
    const key = readKey(file);
    if (key.revokedAt === undefined) this.#write({ ...key, revokedAt: now });
    return true;
  }

  /** All keys, oldest first; none when the directory does not exist. Throws KeyFileError for the first that is damaged. */
  list(): StoredKey[] {
    return this.ids()
      .map((id) => readKey(this.fileOf(id)))
      .sort((a, b) => a.createdAt.getTime() - b.createdAt.getTime());
  }

  fileOf(id: string): string {
    return path.join(this.dir, `${id}.json`);
  }

  /** Of all keys, damaged ones included. */
  ids(): string[] {
    try {
      const names = fs.readdirSync(this.dir).filter((name) => name.endsWith('.json'));
      return names.map((name) => path.basename(name, '.json'));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
      throw new KeyFileError(`The API keys cannot be read: ${(error as Error).message}`, { cause: error });
    }
  }

  /** Takes a key back that nobody has been given yet. */
  remove(id: string): void {
    fs.rmSync(this.fileOf(id), { force: true });
  }

  #write(key: StoredKey): void {
    makeFolder(this.dir);
    const content = { version: VERSION, ...key };
    replaceFile(this.fileOf(key.id), `${JSON.stringify(content, undefined, 2)}\n`);
  }
}

/** Of key files. */
const VERSION = 1;

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
