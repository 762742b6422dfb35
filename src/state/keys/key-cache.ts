// SPDX-License-Identifier: Apache-2.0
//
// This room keeps API keys: hashes in the database, and all of them in the memory of each server. Changes
// reach every host within a second.
import { timingSafeEqual } from 'node:crypto';
import { DatabaseError } from '../database/database.js';
import { digestOfSecret, isActive, parseKey, type StoredKey } from './api-key.js';
import type { AuthenticatedKey, Authenticator } from './authenticator.js';
import type { KeyChanges, KeyTable } from './key-table.js';

type Table = Pick<KeyTable, 'all' | 'changedSince' | 'find' | 'follow'>;

interface LoadedKey {
  readonly key: StoredKey;
  readonly digest: Buffer;
  readonly identity: AuthenticatedKey;
}

export interface KeyCacheOptions {
  readonly pollMs?: number;
  readonly lookupTimeoutMs?: number;
  /** Told when the database stops answering, and of each new reason; the keys stay as they were known. */
  readonly onReloadError?: (error: unknown) => void;
}

// Compared with the digest of an unknown id, so that it costs as much as a known one. No secret has this digest.
const noDigest = Buffer.alloc(32);

/** A revoked key works for this long and one answer of the database, even if nothing tells of the change. */
const POLL_MS = 400;
/** Twice this and the time between polls are less than a second. */
const POLL_TIMEOUT_MS = 250;
/** A change may be announced while a poll that no longer sees it is on its way. */
const MAX_POLLS = 3;
/** Unknown ids looked up at once per second; more are strangers', and wait for the next poll. */
const LOOKUPS_PER_S = 50;
/** As long as a statement on SQLite may wait for another process. */
const LOOKUP_TIMEOUT_MS = 5000;
/** Longer than an answer to an earlier lookup, which may have a key as it was, can take. */
const EXPIRED_SESSION_KEYS_MS = 60_000;

/** The keys that a running server accepts, all in memory. Follows the database; without it, goes on with its known keys. */
export class KeyCache implements Authenticator {
  readonly #keyTable: Table;
  readonly #onReloadError: (error: unknown) => void;
  readonly #lookupTimeoutMs: number;
  readonly #keys = new Map<string, LoadedKey>();
  /** Of sessions: new ones come all the time, so that expired ones do not stay. */
  readonly #ofSessions = new Set<string>();
  readonly #timer: NodeJS.Timeout;
  readonly #endFollowing: () => void;
  #revision = 0;
  #polls = 0;
  #lastProblem = '';
  #lookups = { second: 0, count: 0 };

  private constructor(
    keyTable: Table,
    all: KeyChanges,
    { pollMs = POLL_MS, lookupTimeoutMs = LOOKUP_TIMEOUT_MS, onReloadError = () => {} }: KeyCacheOptions,
  ) {
    this.#keyTable = keyTable;
    this.#lookupTimeoutMs = lookupTimeoutMs;
    this.#onReloadError = onReloadError;
    this.#apply(all);
    this.#endFollowing = keyTable.follow(() => void this.#poll());
    this.#timer = setInterval(() => void this.#poll(), pollMs);
    this.#timer.unref();
  }

  /** @throws DatabaseError when the keys cannot be read */
  static async open(keyTable: Table, options: KeyCacheOptions = {}): Promise<KeyCache> {
    return new KeyCache(keyTable, await keyTable.all(), options);
  }

  /** Number of keys, including expired and revoked ones, except for expired ones of sessions. */
  get size(): number {
    return this.#keys.size;
  }

  /** Whether the database has answered the last time. */
  get isCurrent(): boolean {
    return this.#lastProblem === '';
  }

  authenticate(presented: string): AuthenticatedKey | undefined {
    const parts = parseKey(presented);
    const loaded = parts && this.#keys.get(parts.id);
    const isRight = timingSafeEqual(digestOfSecret(parts?.secret ?? ''), loaded?.digest ?? noDigest);
    return loaded && isRight && isActive(loaded.key, new Date()) ? loaded.identity : undefined;
  }

  find(id: string): AuthenticatedKey | undefined {
    const loaded = this.#keys.get(id);
    return loaded && isActive(loaded.key, new Date()) ? loaded.identity : undefined;
  }

  lookUp(presented: string): Promise<AuthenticatedKey | undefined> | undefined {
    const parts = parseKey(presented);
    if (parts === undefined || this.#keys.has(parts.id)) return undefined;
    const second = Math.floor(performance.now() / 1000);
    if (second !== this.#lookups.second) this.#lookups = { second, count: 0 };
    if (++this.#lookups.count > LOOKUPS_PER_S) return undefined;
    return this.#lookUp(parts.id, presented);
  }

  close(): void {
    clearInterval(this.#timer);
    this.#endFollowing();
  }

  async #lookUp(id: string, presented: string): Promise<AuthenticatedKey | undefined> {
    const found = await answerInTime(this.#keyTable.find(id), this.#lookupTimeoutMs);
    // A poll may have read a newer state meanwhile.
    if (found !== undefined && !this.#keys.has(id)) this.#remember(found);
    return this.authenticate(presented);
  }

  async #poll(): Promise<void> {
    if (this.#polls >= MAX_POLLS) return;
    this.#polls++;
    try {
      let changes: KeyChanges;
      do {
        changes = await this.#keyTable.changedSince(this.#revision, POLL_TIMEOUT_MS);
        this.#apply(changes);
      } while (changes.isFull);
      this.#lastProblem = '';
    } catch (error) {
      const { message } = error as Error;
      if (message !== this.#lastProblem) this.#onReloadError(error);
      this.#lastProblem = message;
    }
    this.#polls--;
  }

  #apply({ revision, keys }: KeyChanges): void {
    // The answer to an earlier poll, which was overtaken.
    if (revision < this.#revision) return;
    this.#revision = revision;
    for (const key of keys) this.#remember(key);
    const expiredMs = Date.now() - EXPIRED_SESSION_KEYS_MS;
    for (const id of this.#ofSessions) {
      const { expiresAt } = this.#keys.get(id)?.key ?? {};
      if (expiresAt === undefined || expiresAt.getTime() > expiredMs) continue;
      this.#keys.delete(id);
      this.#ofSessions.delete(id);
    }
  }

  #remember(key: StoredKey): void {
    this.#keys.set(key.id, loadedKey(key));
    if (key.endsWithSession) this.#ofSessions.add(key.id);
  }
}

async function answerInTime<Answer>(answer: Promise<Answer>, timeoutMs: number): Promise<Answer> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    const late = new DatabaseError(
      'unavailable',
      'TIMEOUT',
      `The database has not answered within ${timeoutMs} ms.`,
    );
    timer = setTimeout(reject, timeoutMs, late);
  });
  return Promise.race([answer, timeout]).finally(() => clearTimeout(timer));
}

function loadedKey(key: StoredKey): LoadedKey {
  const { id, account, rate, concurrency } = key;
  return {
    key,
    digest: Buffer.from(key.secretSha256, 'hex'),
    identity: {
      id,
      account,
      scopes: new Set(key.scopes),
      ...(rate && { rate }),
      ...(concurrency !== undefined && { concurrency }),
    },
  };
}
