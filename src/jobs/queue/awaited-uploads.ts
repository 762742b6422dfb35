// SPDX-License-Identifier: Apache-2.0
import type { Database, Row, Transaction, Value } from '../../state/database/database.js';
import { nowMs } from '../../state/database/now-ms.js';
import { inPieces, ROWS_AT_ONCE, skipLocked } from '../../state/database/pieces.js';

/** A link was made for it, and it may have come or not. */
export interface AwaitedUpload {
  /** Of the object, whole. */
  readonly name: string;
  readonly account: string;
  /** The key that asked for the link. */
  readonly keyId: string;
  /** Creation time of the link, by the clock of the database. */
  readonly askedAtMs: number;
  /** It comes no more. */
  readonly isOver: boolean;
  /** Even if it has come, it is forgotten. */
  readonly isAbandoned: boolean;
}

/** Uploads begun before their link's end may take this much longer. */
const ARRIVAL_MS = 3_600_000;
/** Nobody looks for them, at least for now. They still become jobs when a host does, but hold up no further links. */
const UNCOUNTED_MS = 3_600_000;
/** Longer than outages: the host with their bucket is gone, or analyses no uploads. */
const ABANDONED_MS = 3 * 86_400_000;
/** SQLite takes 32,766 parameters. */
const NAMES_PER_STATEMENT = 1000;

/** Looks come less often the longer an upload takes: after a fifth of the time so far. */
const SOONEST_LOOK_MS = 2000;
const LATEST_LOOK_MS = 60_000;

/** The account has links for more uploads than it may. */
export class TooManyUploads extends Error {
  override readonly name = 'TooManyUploads';
}

/** Uploads to a storage that does not tell of their arrival; all hosts with that storage look after them together. */
export class AwaitedUploads {
  readonly #database: Database;
  readonly #home: string;
  readonly #maxOfAccount: number;
  /** The last account that had its turn, if others come after it. */
  #after = '';

  /** @param home what tells the objects of this storage from those of others */
  constructor(database: Database, home: string, maxOfAccount = Number.POSITIVE_INFINITY) {
    this.#database = database;
    this.#home = home;
    this.#maxOfAccount = maxOfAccount;
  }

  /** All of them or none. @throws TooManyUploads, DatabaseError */
  async expect(
    names: readonly string[],
    { account, keyId }: Pick<AwaitedUpload, 'account' | 'keyId'>,
    linkLifetimeS: number,
  ): Promise<void> {
    await this.#forgetAbandoned(account);
    await this.#database.transaction(
      async (transaction) => {
        await this.#insert(transaction, names, { account, keyId }, linkLifetimeS);
        const [row] = await transaction.query<{ uploads: number }>(
          `SELECT COUNT(*) AS uploads FROM awaited_uploads WHERE account = $1 AND until_ms >= ${this.#now} - $2`,
          [account, UNCOUNTED_MS],
        );
        if ((row?.uploads ?? 0) > this.#maxOfAccount) throw new TooManyUploads();
      },
      { lock: `uploads of ${account}` },
    );
  }

  async #forgetAbandoned(account: string): Promise<void> {
    const isAbandoned = `account = $1 AND until_ms < ${this.#now} - $2`;
    const some = `SELECT home, name FROM awaited_uploads WHERE ${isAbandoned} LIMIT ${ROWS_AT_ONCE}${skipLocked[this.#database.dialect]}`;
    await inPieces(() =>
      this.#database.execute(`DELETE FROM awaited_uploads WHERE (home, name) IN (${some})`, [
        account,
        ABANDONED_MS,
      ]),
    );
  }

  async #insert(
    transaction: Transaction,
    names: readonly string[],
    { account, keyId }: Pick<AwaitedUpload, 'account' | 'keyId'>,
    linkLifetimeS: number,
  ): Promise<void> {
    const unique = [...new Set(names)].sort();
    for (let at = 0; at < unique.length; at += NAMES_PER_STATEMENT) {
      const part = unique.slice(at, at + NAMES_PER_STATEMENT);
      const values: Value[] = [this.#home, account, keyId, linkLifetimeS * 1000 + ARRIVAL_MS, ...part];
      const rows = part.map(
        (_, i) => `($1, $${i + 5}, $2, $3, ${this.#now}, ${this.#now} + $4, ${this.#now} + 1000)`,
      );
      await transaction.execute(
        'INSERT INTO awaited_uploads (home, name, account, key_id, asked_at_ms, until_ms, look_at_ms) ' +
          `VALUES ${rows.join(', ')} ON CONFLICT (home, name) DO UPDATE SET account = excluded.account, key_id = excluded.key_id, ` +
          'asked_at_ms = excluded.asked_at_ms, until_ms = excluded.until_ms, look_at_ms = excluded.look_at_ms',
        values,
      );
    }
  }

  /**
   * Uploads to look at now, of as many accounts as there are with some; other hosts and later calls get them after a while only. One
   * account may await millions, which cost the others nothing.
   * @throws DatabaseError
   */
  async due(limit: number): Promise<AwaitedUpload[]> {
    await this.#moveUp();
    const accounts = await this.#accountsWithDue(limit);
    this.#after = accounts.length < limit ? '' : (accounts.at(-1) ?? '');
    if (accounts.length === 0) return [];
    return this.#database.transaction(async (transaction) => {
      const uploads: AwaitedUpload[] = [];
      for (const [i, account] of accounts.entries()) {
        const share = Math.ceil((limit - uploads.length) / (accounts.length - i));
        uploads.push(...(await this.#dueOf(transaction, account, share)));
      }
      return uploads;
    });
  }

  /** A later look than there are was set before the clock was set back. */
  async #moveUp(): Promise<void> {
    const isLate = `look_at_ms > (SELECT ${this.#now}) + $1`;
    const some = `SELECT home, name FROM awaited_uploads WHERE ${isLate} LIMIT ${ROWS_AT_ONCE}${skipLocked[this.#database.dialect]}`;
    await inPieces(() =>
      this.#database.execute(
        `UPDATE awaited_uploads SET look_at_ms = ${this.#now} WHERE ${isLate} AND (home, name) IN (${some})`,
        [2 * LATEST_LOOK_MS],
      ),
    );
  }

  /** One look into the index for each account. */
  async #accountsWithDue(limit: number): Promise<string[]> {
    const ofHome = 'SELECT account FROM awaited_uploads WHERE home = $1';
    const rows = await this.#database.query<{ account: string }>(
      'WITH RECURSIVE accounts (account) AS (SELECT CAST($2 AS TEXT) UNION ALL ' +
        `SELECT (${ofHome} AND account > accounts.account ORDER BY account LIMIT 1) FROM accounts WHERE account IS NOT NULL) ` +
        'SELECT account FROM accounts WHERE account > $2 AND ' +
        `EXISTS (${ofHome} AND account = accounts.account AND look_at_ms <= (SELECT ${this.#now})) LIMIT ${limit}`,
      [this.#home, this.#after],
    );
    return rows.map(({ account }) => account);
  }

  async #dueOf(transaction: Transaction, account: string, limit: number): Promise<AwaitedUpload[]> {
    const now = this.#now;
    const isDue = `home = $1 AND account = $2 AND look_at_ms <= (SELECT ${now})`;
    const rows = await transaction.query<Row & { asked_at_ms: number; until_ms: number; now_ms: number }>(
      `UPDATE awaited_uploads SET look_at_ms = ${now} + CASE ` +
        `WHEN ${now} - asked_at_ms < ${5 * SOONEST_LOOK_MS} THEN ${SOONEST_LOOK_MS} ` +
        `WHEN ${now} - asked_at_ms > ${5 * LATEST_LOOK_MS} THEN ${LATEST_LOOK_MS} ` +
        `ELSE (${now} - asked_at_ms) / 5 END ` +
        `WHERE (home, name) IN (SELECT home, name FROM awaited_uploads WHERE ${isDue} ` +
        `ORDER BY look_at_ms LIMIT ${limit}${skipLocked[transaction.dialect]}) ` +
        `RETURNING name, account, key_id, asked_at_ms, until_ms, ${now} AS now_ms`,
      [this.#home, account],
    );
    return rows.map((row) => ({
      name: String(row.name),
      account: String(row.account),
      keyId: String(row.key_id),
      askedAtMs: row.asked_at_ms,
      isOver: row.until_ms < row.now_ms,
      isAbandoned: row.until_ms < row.now_ms - ABANDONED_MS,
    }));
  }

  /** Unless a later link was made for it. @throws DatabaseError */
  async forget({ name, askedAtMs }: AwaitedUpload): Promise<void> {
    const sql = 'DELETE FROM awaited_uploads WHERE home = $1 AND name = $2 AND asked_at_ms = $3';
    await this.#database.execute(sql, [this.#home, name, askedAtMs]);
  }

  get #now(): string {
    return nowMs[this.#database.dialect];
  }
}
