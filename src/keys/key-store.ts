// SPDX-License-Identifier: Apache-2.0
import { timingSafeEqual } from 'node:crypto';
import fs from 'node:fs';
import type { AuthenticatedKey } from '../admission/authenticator.js';
import { digestOfSecret, isActive, parseKey, type StoredKey } from './api-key.js';
import { KeyDirectory } from './key-directory.js';

interface LoadedKey {
  readonly key: StoredKey;
  readonly digest: Buffer;
  readonly identity: AuthenticatedKey;
}

export interface KeyStoreOptions {
  readonly pollMs?: number;
  /** Told of each key that became unreadable on disk. It stays in force as it was read before; the others are followed. */
  readonly onReloadError?: (error: unknown) => void;
}

// What an unknown id is compared with, so that it costs as much as a known one. No secret has this digest.
const noDigest = Buffer.alloc(32);

/** The keys that a running server accepts. Follows changes on disk, made by `veravox keys`, within half a second. */
export class KeyStore {
  readonly #directory: KeyDirectory;
  readonly #timer: NodeJS.Timeout;
  #keys: ReadonlyMap<string, LoadedKey> = new Map();
  #changeTimeMs = Number.NaN;

  /** Throws KeyFileError when the keys on disk cannot be read. */
  constructor(dataDir: string, { pollMs = 500, onReloadError = () => {} }: KeyStoreOptions = {}) {
    this.#directory = new KeyDirectory(dataDir);
    this.#reloadIfChanged();
    // A timer rather than fs.watch, which misses changes on network and container file systems.
    this.#timer = setInterval(() => {
      try {
        this.#reloadIfChanged(onReloadError);
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

  /** Whose key it is; undefined when it is unknown, expired or revoked. Any wrong key takes the same time. */
  authenticate(presented: string): AuthenticatedKey | undefined {
    const parts = parseKey(presented);
    const loaded = parts && this.#keys.get(parts.id);
    const isRight = timingSafeEqual(digestOfSecret(parts?.secret ?? ''), loaded?.digest ?? noDigest);
    return loaded && isRight && isActive(loaded.key, new Date()) ? loaded.identity : undefined;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  /** Throws for a damaged key, unless `onDamaged` is there to be told. */
  #reloadIfChanged(onDamaged?: (error: unknown) => void): void {
    // Every change renames a file into the directory, which updates its time. Two changes within one tick of the file
    // system's clock share a time, so one that is still fresh proves nothing.
    const changeTimeMs = fs.statSync(this.#directory.dir, { throwIfNoEntry: false })?.mtimeMs ?? 0;
    const isFresh = Date.now() - this.#changeTimeMs < 2000;
    if (changeTimeMs === this.#changeTimeMs && !isFresh) return;
    this.#changeTimeMs = changeTimeMs;
    const keys = new Map<string, LoadedKey>();
    const keepKnown = (id: string, error: unknown): void => {
      const known = this.#keys.get(id);
      if (known !== undefined) keys.set(id, known);
      onDamaged?.(error);
    };
    // One damaged key must not keep another from being revoked.
    const stored = this.#directory.list(onDamaged && keepKnown);
    for (const key of stored) keys.set(key.id, loadedKey(key));
    this.#keys = keys;
  }
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
