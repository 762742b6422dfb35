// SPDX-License-Identifier: Apache-2.0
import { Conditions, placesFor } from '../database/conditions.js';
import type { Database, Transaction, Value } from '../database/database.js';
import { cursorAt, placeOf } from '../database/page-cursor.js';
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

export interface KeyFilter {
  readonly account?: string | undefined;
  /** Only keys that are neither expired nor revoked at this time. */
  readonly isActiveAt?: Date | undefined;
  /** Only keys that end with a session, or only the others. */
  readonly endsWithSession?: boolean | undefined;
}

/** Facts about a key in lists, in addition to its id. */
export interface KeyLabel {
  readonly name: string;
  readonly endsWithSession: boolean;
}

export interface KeyPage {
  /** The newest first. */
  readonly keys: readonly StoredKey[];
  /** For the next page; undefined on the last. */
  readonly cursor: string | undefined;
}

/** Few enough for a quick answer. */
const PAGE = 500;

const selected = `SELECT ${columns.join(', ')}, revision FROM api_keys`;

/** The API keys in the database, including expired and revoked ones. */
export class KeyTable {
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

  /**
   * @param edit gets the key and returns the changed one; if it throws, the key stays as it was
   * @param before runs before the change is valid; if it fails, there is none
   * @returns undefined if there is no such key
   */
  change(
    id: string,
    edit: (key: StoredKey) => StoredKey,
    before = async (_changed: StoredKey): Promise<void> => {},
  ): Promise<StoredKey | undefined> {
    return this.#change(async (transaction, revision) => {
      const [row] = await transaction.query<KeyRow>(`${selected} WHERE id = $1`, [id]);
      if (row === undefined) return undefined;
      const key = edit(keyOf(row));
      const sets = [...columns, 'revision'].map((column, i) => `${column} = $${i + 1}`);
      await transaction.execute(`UPDATE api_keys SET ${sets.join(', ')} WHERE id = $1`, [
        ...rowOf({ ...key, id }),
        revision,
      ]);
      await before(key);
      return key;
    });
  }

  /**
   * Marks a key as revoked for good. False if there is no such key; revoking twice keeps the first time.
   * @param before runs before the key is revoked; if it fails, it is not
   */
  revoke(id: string, now = new Date(), before = async (): Promise<void> => {}): Promise<boolean> {
    return this.#change(async (transaction, revision) => {
      const changed = await transaction.execute(
        'UPDATE api_keys SET revoked_at_ms = COALESCE(revoked_at_ms, $1), revision = $2 WHERE id = $3',
        [now.getTime(), revision, id],
      );
      if (changed > 0) await before();
      return changed > 0;
    });
  }

  /** All keys, oldest first. */
  async list(): Promise<StoredKey[]> {
    return (await this.#database.query<KeyRow>(`${selected} ORDER BY created_at_ms, id`)).map(keyOf);
  }

  /** @throws RangeError if the cursor does not come from an earlier page */
  async page(
    { account, isActiveAt, endsWithSession }: KeyFilter,
    limit: number,
    cursor?: string,
  ): Promise<KeyPage> {
    const conditions = new Conditions();
    conditions.addEqual({
      account,
      ends_with_session: endsWithSession === undefined ? undefined : Number(endsWithSession),
    });
    if (isActiveAt !== undefined) {
      conditions.add(
        (n) => `revoked_at_ms IS NULL AND (expires_at_ms IS NULL OR expires_at_ms > $${n})`,
        isActiveAt.getTime(),
      );
    }
    if (cursor !== undefined) {
      conditions.add((n) => `(created_at_ms, id) < ($${n}, $${n + 1})`, ...placeOf(cursor));
    }
    const rows = await this.#database.query<KeyRow>(
      `${selected} ${conditions.where} ORDER BY created_at_ms DESC, id DESC LIMIT ${limit + 1}`,
      conditions.values,
    );
    const keys = rows.slice(0, limit).map(keyOf);
    const last = rows[limit - 1];
    const isLast = rows.length <= limit || last === undefined;
    return { keys, cursor: isLast ? undefined : cursorAt({ createdAtMs: last.created_at_ms, id: last.id }) };
  }

  /** Labels of the existing ones, by id. */
  async labelsOf(ids: readonly string[]): Promise<ReadonlyMap<string, KeyLabel>> {
    const labels = new Map<string, KeyLabel>();
    for (let at = 0; at < ids.length; at += PAGE) {
      const part = ids.slice(at, at + PAGE);
      const rows = await this.#database.query<Pick<KeyRow, 'id' | 'name' | 'ends_with_session'>>(
        `SELECT id, name, ends_with_session FROM api_keys WHERE id IN (${placesFor(part)})`,
        part,
      );
      for (const { id, name, ends_with_session } of rows) {
        labels.set(id, { name, endsWithSession: ends_with_session === 1 });
      }
    }
    return labels;
  }

  /** Of the account, with ended ones, without those of sessions. */
  async countOf(account: string): Promise<number> {
    const [row] = await this.#database.query<{ keys: number }>(
      'SELECT COUNT(*) AS keys FROM api_keys WHERE account = $1 AND ends_with_session = 0',
      [account],
    );
    return row?.keys ?? 0;
  }

  async isEmpty(): Promise<boolean> {
    return (await this.#database.query('SELECT id FROM api_keys LIMIT 1')).length === 0;
  }

  async find(id: string): Promise<StoredKey | undefined> {
    const [row] = await this.#database.query<KeyRow>(`${selected} WHERE id = $1`, [id]);
    return row && keyOf(row);
  }

  /** All keys, to begin with. */
  async all(): Promise<KeyChanges> {
    return changesIn(await this.#database.query<KeyRow>(selected), 0);
  }

  /** Keys created or changed after this revision, the earliest first, in pages. */
  async changedSince(revision: number, timeoutMs: number): Promise<KeyChanges> {
    const sql = `${selected} WHERE revision > $1 ORDER BY revision LIMIT $2`;
    const rows = await this.#database.queryPromptly<KeyRow>(sql, [revision, PAGE], timeoutMs);
    return changesIn(rows, revision);
  }

  follow(onChange: () => void): () => void {
    return this.#database.follow(KEYS_TOPIC, onChange);
  }

  #change<Result>(work: (transaction: Transaction, revision: number) => Promise<Result>): Promise<Result> {
    return this.#database.transaction((transaction) => changeKeys(transaction, work));
  }
}

/** As part of another change. Revoking twice keeps the first time. */
export async function revokeKeys(transaction: Transaction, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await changeKeys(transaction, async (_, revision) => {
    const places = ids.map((_id, i) => `$${i + 3}`).join(', ');
    await transaction.execute(
      `UPDATE api_keys SET revoked_at_ms = COALESCE(revoked_at_ms, $1), revision = $2 WHERE id IN (${places})`,
      [Date.now(), revision, ...ids],
    );
  });
}

/** Ended keys of sessions that stay in lists, with their names in usage. */
export interface KeptSessionKeys {
  readonly maxAgeMs: number;
  /** Of one account, whatever their age. */
  readonly max: number;
}

/**
 * As part of another change. Announced to nobody: they are no longer active.
 * @param account whose keys are counted
 * @param limit of those removed for their age, and again for their number
 * @returns their ids
 */
export async function removeSessionKeys(
  transaction: Transaction,
  account: string,
  { maxAgeMs, max }: KeptSessionKeys,
  limit: number,
): Promise<string[]> {
  const nowMs = Date.now();
  const ended = (n: number): string =>
    `SELECT id FROM api_keys WHERE ends_with_session = 1 AND (expires_at_ms < $${n} OR revoked_at_ms < $${n})`;
  const rows = await transaction.query<{ id: string }>(
    `DELETE FROM api_keys WHERE id IN (${ended(1)} ORDER BY created_at_ms LIMIT ${limit})
        OR id IN (${ended(2)} AND account = $3 ORDER BY created_at_ms DESC LIMIT ${limit} OFFSET ${max})
      RETURNING id`,
    [nowMs - maxAgeMs, nowMs, account],
  );
  return rows.map(({ id }) => id);
}

/** As part of another change. */
export const addKey = (transaction: Transaction, key: StoredKey): Promise<void> =>
  changeKeys(transaction, (_, revision) => insert(transaction, key, revision));

/** The revision is taken first: until the end, no other change can have a later one and be seen earlier. */
async function changeKeys<Result>(
  transaction: Transaction,
  work: (transaction: Transaction, revision: number) => Promise<Result>,
): Promise<Result> {
  const [row] = await transaction.query<{ revision: number }>(
    "UPDATE revisions SET revision = revision + 1 WHERE topic = 'keys' RETURNING revision",
  );
  const result = await work(transaction, row?.revision ?? 0);
  await transaction.announce(KEYS_TOPIC);
  return result;
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
  await transaction.execute(
    `INSERT INTO api_keys (${columns.join(', ')}, revision) VALUES (${placesFor(values)})${end}`,
    values,
  );
}
