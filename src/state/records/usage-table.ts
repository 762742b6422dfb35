// SPDX-License-Identifier: Apache-2.0
import { Conditions, placesFor } from '../database/conditions.js';
import type { Database, Transaction, Value } from '../database/database.js';
import { inPieces, ROWS_AT_ONCE } from '../database/pieces.js';

/** The usage of one key on one route on one UTC day; without requests if it was used for unmetered ones only. */
export interface UsageRow {
  readonly keyId: string;
  readonly account: string;
  /** The route's path. */
  readonly route: string;
  requests: number;
  /** Of these, requests without success: refusals, failures, clients that went away. */
  errors: number;
  audioS: number;
  windows: number;
  /** Of request bodies that arrived in full. */
  bytes: number;
}

export type DayUsage = { readonly day: string } & Readonly<UsageRow>;

/** Counts of one day, which are added once. */
export interface UsageBatch {
  /** The day and something that no other batch has: 2026-11-21.<uuid> */
  readonly id: string;
  readonly day: string;
  readonly rows: readonly Readonly<UsageRow>[];
}

export interface UsageFilter {
  readonly keyId?: string | undefined;
  readonly account?: string | undefined;
  /** First and last UTC day, both included: 2026-11-21. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

export const counts = ['requests', 'errors', 'audioS', 'windows', 'bytes'] as const;

const columns = [
  'day',
  'account',
  'key_id',
  'route',
  'requests',
  'errors',
  'audio_s',
  'windows',
  'bytes',
] as const;
const sums = columns.slice(4).map((name) => `${name} = usage_counts.${name} + excluded.${name}`);

/** SQLite takes 32,766 parameters, PostgreSQL 65,535. */
const ROWS_PER_STATEMENT = 1000;
/** The longest time a batch may be under way, be added, and not know of it. */
const BATCH_MEMORY_MS = 30 * 86_400_000;

type Stored = { readonly [Name in (typeof columns)[number]]: Value };

/** The usage in the database. */
export class UsageTable {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Adds the counts, unless a batch with this id has been added before. @returns whether it did */
  add({ id, day, rows }: UsageBatch): Promise<boolean> {
    return this.#database.transaction(async (transaction) => {
      const note = 'INSERT INTO usage_batches (id, added_at_ms) VALUES ($1, $2) ON CONFLICT (id) DO NOTHING';
      if ((await transaction.execute(note, [id, Date.now()])) === 0) return false;
      // In one order everywhere, or two hosts would each wait for a row that the other has.
      const ordered = rows.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
      for (let at = 0; at < ordered.length; at += ROWS_PER_STATEMENT) {
        await addUsage(transaction, day, ordered.slice(at, at + ROWS_PER_STATEMENT));
      }
      return true;
    });
  }

  /** By day, then account, key and route. @param limit the most rows, of any days */
  read(filter: UsageFilter = {}, limit = Number.MAX_SAFE_INTEGER): Promise<DayUsage[]> {
    const { where, values } = conditionsOf(filter);
    return this.#ordered(`SELECT ${columns.join(', ')} FROM usage_counts ${where} LIMIT ${limit}`, values);
  }

  /** The same over all routes, whose names are empty: by day, then account and key. @param limit as above */
  readByKey(filter: UsageFilter, limit: number): Promise<DayUsage[]> {
    const { where, values } = conditionsOf(filter);
    const sumsOfRoutes = columns.slice(4).map((column) => `SUM(${column}) AS ${column}`);
    return this.#ordered(
      `SELECT day, account, key_id, '' AS route, ${sumsOfRoutes.join(', ')} FROM usage_counts ${where} ` +
        `GROUP BY day, account, key_id LIMIT ${limit}`,
      values,
    );
  }

  /** Sorted by the database, so that the thread that serves requests is free, and after the limit, which bounds the work. */
  async #ordered(sql: string, values: readonly Value[]): Promise<DayUsage[]> {
    // By bytes, whatever the language of the database: as in SQLite.
    const collation = this.#database.dialect === 'postgres' ? ' COLLATE "C"' : '';
    const order = columns.slice(0, 4).map((column) => `${column}${collation}`);
    const rows = await this.#database.query<Stored>(
      `SELECT * FROM (${sql}) AS found ORDER BY ${order.join(', ')}`,
      values,
    );
    return rows.map(usageOf);
  }

  /** The last UTC days on which these keys were used, by their ids. */
  async lastDays(keyIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
    if (keyIds.length === 0) return new Map();
    const rows = await this.#database.query<{ key_id: string; day: string }>(
      `SELECT key_id, MAX(day) AS day FROM usage_counts WHERE key_id IN (${placesFor(keyIds)}) GROUP BY key_id`,
      keyIds,
    );
    return new Map(rows.map(({ key_id, day }) => [key_id, day]));
  }

  async days(): Promise<string[]> {
    const days: string[] = [];
    // One look into the index for each day: all counts may be very many.
    for (;;) {
      const [next] = await this.#database.query<{ day: string }>(
        'SELECT day FROM usage_counts WHERE day > $1 ORDER BY day LIMIT 1',
        [days.at(-1) ?? ''],
      );
      if (next === undefined) return days;
      days.push(next.day);
    }
  }

  /** Also forgets old batches: nobody sends them again. */
  async removeDays(days: readonly string[]): Promise<void> {
    const someCounts = `SELECT key_id, route, account FROM usage_counts WHERE day = $1 LIMIT ${ROWS_AT_ONCE}`;
    const someBatches = `SELECT id FROM usage_batches WHERE added_at_ms < $1 LIMIT ${ROWS_AT_ONCE}`;
    for (const day of days) {
      await inPieces(() =>
        this.#database.execute(
          `DELETE FROM usage_counts WHERE day = $1 AND (key_id, route, account) IN (${someCounts})`,
          [day],
        ),
      );
    }
    const beforeMs = Date.now() - BATCH_MEMORY_MS;
    await inPieces(() =>
      this.#database.execute(`DELETE FROM usage_batches WHERE id IN (${someBatches})`, [beforeMs]),
    );
  }
}

function conditionsOf({ keyId, account, from, to }: UsageFilter): Conditions {
  const conditions = new Conditions();
  conditions.addEqual({ key_id: keyId, account });
  // The others only say that a key was used.
  conditions.add((n) => `requests > $${n}`, 0);
  if (from !== undefined) conditions.add((n) => `day >= $${n}`, from);
  if (to !== undefined) conditions.add((n) => `day <= $${n}`, to);
  return conditions;
}

const usageOf = (row: Stored): DayUsage => ({
  day: String(row.day),
  keyId: String(row.key_id),
  account: String(row.account),
  route: String(row.route),
  requests: Number(row.requests),
  errors: Number(row.errors),
  audioS: Number(row.audio_s),
  windows: Number(row.windows),
  bytes: Number(row.bytes),
});

const nameOf = ({ account, keyId, route }: Pick<UsageRow, 'account' | 'keyId' | 'route'>): string =>
  [account, keyId, route].join(' ');

/** As part of another change, with which it is added once or not at all. */
export async function addUsage(
  transaction: Transaction,
  day: string,
  rows: readonly Readonly<UsageRow>[],
): Promise<void> {
  const values = rows.flatMap((row): Value[] => [
    day,
    row.account,
    row.keyId,
    row.route,
    ...counts.map((count) => row[count]),
  ]);
  const places = rows.map(
    (_, i) => `(${columns.map((_, j) => `$${i * columns.length + j + 1}`).join(', ')})`,
  );
  await transaction.execute(
    `INSERT INTO usage_counts (${columns.join(', ')}) VALUES ${places.join(', ')}
      ON CONFLICT (day, key_id, route, account) DO UPDATE SET ${sums.join(', ')}`,
    values,
  );
}
