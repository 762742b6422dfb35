// SPDX-License-Identifier: Apache-2.0
import type { Database, Transaction, Value } from '../database/database.js';
import { type CreatedKey, type NewKey, newKey, type StoredKey } from './api-key.js';
import { columns, type KeyRow, keyOf, rowOf } from './key-row.js';

/** Announced with every change. */
export const KEYS_TOPIC = 'keys';

/** Keys that have changed, and how far that goes. */
export interface KeyChanges {
  readonly revision: number;
  readonly keys: readonly StoredKey[];
  /** Whether there may be more. */
  readonly isFull: boolean;
}

/** Few enough for a quick answer. */
const PAGE = 500;

const selected = `SELECT ${columns.join(', ')}, revision FROM api_keys`;

/** The API keys in the database, those expired and revoked included. */
export class KeyRegistry {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * Stores a new key. Its text form is returned this once and kept nowhere.
   * @param before runs before the key is valid; if it fails, there is no key
   */
  async create(
    wanted: NewKey,
    before = async (_created: CreatedKey): Promise<void> => {},
  ): Promise<CreatedKey> {
    const created = newKey(wanted);
    await this.#change(async (transaction, revision) => {
      await insert(transaction, created.key, revision);
      await before(created);
    });
    return created;
  }

  /** Stores a key only if there has never been one. @returns whether it did */
  storeFirst(key: StoredKey): Promise<boolean> {
    return this.#change(async (transaction, revision) => {
      if ((await transaction.query('SELECT id FROM api_keys LIMIT 1')).length > 0) return false;
      await insert(transaction, key, revision);
      return true;
    });
  }

  /** Stores those whose ids are new, and leaves the others as they are. */
  async add(keys: readonly StoredKey[]): Promise<void> {
    await this.#change(async (transaction, last) => {
      for (const [i, key] of keys.entries()) {
        const revision = last - keys.length + 1 + i;
        await insert(transaction, key, revision, ' ON CONFLICT (id) DO NOTHING');
      }
    }, keys.length);
  }

  /** Marks a key as revoked for good. False if there is no such key; revoking twice keeps the first time. */
  revoke(id: string, now = new Date()): Promise<boolean> {
    return this.#change(async (transaction, revision) => {
      const changed = await transaction.execute(
        'UPDATE api_keys SET revoked_at_ms = COALESCE(revoked_at_ms, $1), revision = $2 WHERE id = $3',
        [now.getTime(), revision, id],
      );
      return changed > 0;
    });
  }

  /** All keys, oldest first. */
  async list(): Promise<StoredKey[]> {
    return (await this.#database.query<KeyRow>(`${selected} ORDER BY created_at_ms, id`)).map(keyOf);
  }

  async isEmpty(): Promise<boolean> {
    return (await this.#database.query('SELECT id FROM api_keys LIMIT 1')).length === 0;
  }

  async find(id: string): Promise<StoredKey | undefined> {
    const [row] = await this.#database.query<KeyRow>(`${selected} WHERE id = $1`, [id]);
    return row && keyOf(row);
  }

  /** All of them, to begin with. */
  async all(): Promise<KeyChanges> {
    return changesIn(await this.#database.query<KeyRow>(selected), 0);
  }

  /** Those that were created or changed after this revision, the earliest first, in pages. */
  async changedSince(revision: number, timeoutMs: number): Promise<KeyChanges> {
    const sql = `${selected} WHERE revision > $1 ORDER BY revision LIMIT $2`;
    const rows = await this.#database.queryPromptly<KeyRow>(sql, [revision, PAGE], timeoutMs);
    return changesIn(rows, revision);
  }

  follow(onChange: () => void): () => void {
    return this.#database.follow(KEYS_TOPIC, onChange);
  }

  /**
   * The revisions are taken first: until the end, no other change can have later ones and be seen earlier.
   * @param work gets the last of so many revisions as it needs
   */
  #change<Result>(
    work: (transaction: Transaction, revision: number) => Promise<Result>,
    needed = 1,
  ): Promise<Result> {
    return this.#database.transaction(async (transaction) => {
      const [row] = await transaction.query<{ revision: number }>(
        "UPDATE revisions SET revision = revision + $1 WHERE topic = 'keys' RETURNING revision",
        [needed],
      );
      const result = await work(transaction, row?.revision ?? 0);
      await transaction.announce(KEYS_TOPIC);
      return result;
    });
  }
}

function changesIn(rows: readonly KeyRow[], since: number): KeyChanges {
  return {
    keys: rows.map(keyOf),
    revision: rows.reduce((newest, row) => Math.max(newest, row.revision), since),
    isFull: rows.length >= PAGE,
  };
}

async function insert(transaction: Transaction, key: StoredKey, revision: number, end = ''): Promise<void> {
  const values: Value[] = [...rowOf(key), revision];
  const places = values.map((_, i) => `$${i + 1}`).join(', ');
  await transaction.execute(
    `INSERT INTO api_keys (${columns.join(', ')}, revision) VALUES (${places})${end}`,
    values,
  );
}
