// SPDX-License-Identifier: Apache-2.0
import { timingSafeEqual } from 'node:crypto';
import fs from 'node:fs';
import { digestOfSecret, isActive, parseKey, type StoredKey } from './api-key.js';
import type { AuthenticatedKey } from './authenticator.js';
import { KeyDirectory, readKey } from './key-directory.js';

interface LoadedKey {
  readonly key: StoredKey;
  readonly digest: Buffer;
  readonly identity: AuthenticatedKey;
  /** What the file's time and size were when it was read. */
  readonly fileState: string;
}

export interface KeyStoreOptions {
  readonly pollMs?: number;
  /** Told of each key that became unreadable on disk. It stays in force as it was read before; the others are followed. */
  readonly onReloadError?: (error: unknown) => void;
}

// What an unknown id is compared with, so that it costs as much as a known one. No secret has this digest.
const noDigest = Buffer.alloc(32);

/** Files that are looked at per poll, whether they were edited in place: of many keys a part at a time. */
const STATS_PER_POLL = 200;
/** So many unknown ids per second are looked up on disk at once; more are strangers', and wait for the next poll. */
const LOOKUPS_PER_S = 50;
/** Two changes within one tick of a file system's clock share a time, so one that is still fresh proves nothing. */
const FRESH_MS = 2000;

/** The keys that a running server accepts. Follows changes on disk; a new key works at once, a revoked one half a second. */
export class KeyStore {
  readonly #directory: KeyDirectory;
  readonly #timer: NodeJS.Timeout;
  readonly #keys = new Map<string, LoadedKey>();
  #changeTimeMs = Number.NaN;
  /** Where the look at single files goes on. */
  #checked: Iterator<string> = [].values();
  #lookups = { second: 0, count: 0 };

  /** Throws KeyFileError when the keys on disk cannot be read. */
  constructor(dataDir: string, { pollMs = 500, onReloadError = () => {} }: KeyStoreOptions = {}) {
    this.#directory = new KeyDirectory(dataDir);
    this.#followFolder();
    // A timer rather than fs.watch, which misses changes on network and container file systems.
    this.#timer = setInterval(() => {
      try {
        this.#followFolder(onReloadError);
        this.#followEdits(onReloadError);
      } catch (error) {
        onReloadError(error);
      }
    }, pollMs);
    this.#timer.unref();
  }

  /** Number of keys, those expired and revoked included. */
  get size(): number {
    return this.#keys.size;
  }

  /** Whose key it is; undefined when it is unknown, expired or revoked. */
  authenticate(presented: string): AuthenticatedKey | undefined {
    const parts = parseKey(presented);
    const loaded = parts && (this.#keys.get(parts.id) ?? this.#lookUp(parts.id));
    const isRight = timingSafeEqual(digestOfSecret(parts?.secret ?? ''), loaded?.digest ?? noDigest);
    return loaded && isRight && isActive(loaded.key, new Date()) ? loaded.identity : undefined;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  /** A key that was made a moment ago must work. One file is looked for, and not more often than a few times per second. */
  #lookUp(id: string): LoadedKey | undefined {
    const second = Math.floor(performance.now() / 1000);
    if (second !== this.#lookups.second) this.#lookups = { second, count: 0 };
    if (++this.#lookups.count > LOOKUPS_PER_S) return undefined;
    try {
      this.#load(id);
    } catch {
      // The next poll reports it.
    }
    return this.#keys.get(id);
  }

  /** Throws for a damaged key, unless `onDamaged` is there to be told: then it stays as it was, and others are followed. */
  #followFolder(onDamaged?: (error: unknown) => void): void {
    // Every change by the command line renames a file into the folder, which updates its time.
    const changeTimeMs = fs.statSync(this.#directory.dir, { throwIfNoEntry: false })?.mtimeMs ?? 0;
    const isFresh = Math.abs(Date.now() - this.#changeTimeMs) < FRESH_MS;
    if (changeTimeMs === this.#changeTimeMs && !isFresh) return;
    this.#changeTimeMs = changeTimeMs;
    const ids = new Set(this.#directory.ids());
    for (const id of this.#keys.keys()) if (!ids.has(id)) this.#keys.delete(id);
    for (const id of ids) this.#loadOrTell(id, onDamaged);
  }

  /** A file that is written in place leaves its folder as it was. */
  #followEdits(onDamaged: (error: unknown) => void): void {
    for (let count = 0; count < STATS_PER_POLL; count++) {
      const next = this.#checked.next();
      if (next.done) {
        this.#checked = this.#keys.keys();
        return;
      }
      this.#loadOrTell(next.value, onDamaged);
    }
  }

  #loadOrTell(id: string, onDamaged: ((error: unknown) => void) | undefined): void {
    try {
      this.#load(id);
    } catch (error) {
      if (onDamaged === undefined) throw error;
      onDamaged(error);
    }
  }

  /** Reads a key's file where that changed since it was read. */
  #load(id: string): void {
    const file = this.#directory.fileOf(id);
    const stats = fs.statSync(file, { throwIfNoEntry: false });
    if (stats === undefined) {
      this.#keys.delete(id);
      return;
    }
    const { mtimeMs, size, ino } = stats;
    const isFresh = Math.abs(Date.now() - mtimeMs) < FRESH_MS;
    const state = `${mtimeMs} ${size} ${ino}`;
    const known = this.#keys.get(id);
    if (known?.fileState === state && !isFresh) return;
    try {
      this.#keys.set(id, { ...loadedKey(readKey(file)), fileState: state });
    } catch (error) {
      // It stays as it was, and is reported once rather than at every poll.
      if (known !== undefined) this.#keys.set(id, { ...known, fileState: state });
      throw error;
    }
  }
}

function loadedKey(key: StoredKey): Omit<LoadedKey, 'fileState'> {
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
