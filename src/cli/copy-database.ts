// SPDX-License-Identifier: Apache-2.0
import { ADMIN_TOPIC } from '../console/users/admin-changes.js';
import { DELIVERY_TOPIC } from '../jobs/queue/add-delivery.js';
import { WORK_TOPIC } from '../jobs/queue/job-table.js';
import type { Database, Queries, Row, Transaction, Value } from '../state/database/database.js';
import { KEYS_TOPIC } from '../state/keys/key-table.js';
import { POINTS_TOPIC } from '../state/operating-points/point-changes.js';

export interface TableCount {
  readonly table: string;
  readonly rows: number;
}

/** The database that should be filled has something in it already. */
class DatabaseNotEmpty extends Error {
  override readonly name = 'DatabaseNotEmpty';
}

const REVISIONS = 'revisions';
/** Not copied as they are: each database has its own. Anybody can cause rows of the last one, which mean nothing after an hour. */
const ownTables: ReadonlySet<string> = new Set(['schema_migrations', REVISIONS, 'sign_in_attempts']);
const ROWS_PER_STATEMENT = 100;

/** The tables of a SQLite database that a copy contains, with their row counts. */
export async function countsToCopy(source: Queries): Promise<TableCount[]> {
  return countsOf(source, await tablesOf(source));
}

/** @throws DatabaseNotEmpty */
export async function refuseUnlessEmpty(target: Database, tables: readonly string[]): Promise<void> {
  refuseRows(target.name, await countsOf(target, tables));
}

/**
 * Puts everything that a SQLite database contains into an empty PostgreSQL database, as a whole or not at all. Nobody changes
 * either meanwhile. Jobs in work wait in the new one.
 * @returns what was copied, compared on both sides
 * @throws DatabaseNotEmpty, DatabaseError; then nothing has changed
 */
export function copyDatabase(source: Database, target: Database): Promise<TableCount[]> {
  return source.transaction((from) =>
    target.transaction(
      async (to) => {
        // First: a process that makes a key at this moment waits for it, and finds that there are some.
        await copyRevisions(from, to);
        const tables = await tablesOf(from);
        refuseRows(target.name, await countsOf(to, tables));
        for (const table of tables) await copyRows(from, to, table);
        await giveBackWork(to);
        const [before, after] = [await countsOf(from, tables), await countsOf(to, tables)];
        const wrong = before.find(({ rows }, i) => rows !== after[i]?.rows);
        if (wrong !== undefined)
          throw new Error(`Not all of ${wrong.table} was copied. Nothing has changed.`);
        for (const topic of [KEYS_TOPIC, POINTS_TOPIC, WORK_TOPIC, DELIVERY_TOPIC, ADMIN_TOPIC])
          await to.announce(topic);
        return after;
      },
      { lock: 'copy', isLong: true },
    ),
  );
}

function refuseRows(name: string, counts: readonly TableCount[]): void {
  const filled = counts.filter(({ rows }) => rows > 0).map(({ table, rows }) => `${table}: ${rows}`);
  if (filled.length === 0) return;
  throw new DatabaseNotEmpty(
    `The database ${name} is not empty (${filled.join(', ')}). Copy into a database that no server has used yet: ` +
      'the first start makes a key.',
  );
}

/** In the order in which they were made, so that a row comes after the rows it refers to. */
async function tablesOf(source: Queries): Promise<string[]> {
  const rows = await source.query<{ name: string }>(
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY rowid",
  );
  return rows.map(({ name }) => name).filter((name) => !ownTables.has(name));
}

async function countsOf(queries: Queries, tables: readonly string[]): Promise<TableCount[]> {
  const counts: TableCount[] = [];
  for (const table of tables) {
    const [row] = await queries.query<{ rows: number }>(`SELECT COUNT(*) AS rows FROM ${table}`);
    counts.push({ table, rows: row?.rows ?? 0 });
  }
  return counts;
}

async function copyRevisions(from: Queries, to: Transaction): Promise<void> {
  for (const { topic, revision } of await from.query<{ topic: string; revision: number }>(
    'SELECT topic, revision FROM revisions ORDER BY topic',
  )) {
    await to.execute(
      `INSERT INTO revisions (topic, revision) VALUES ($1, $2)
        ON CONFLICT (topic) DO UPDATE SET revision = GREATEST(revisions.revision, excluded.revision)`,
      [topic, revision],
    );
  }
}

async function copyRows(from: Queries, to: Transaction, table: string): Promise<void> {
  const page = `SELECT rowid AS copied_rowid, * FROM ${table} WHERE rowid > $1 ORDER BY rowid LIMIT ${ROWS_PER_STATEMENT}`;
  for (let last = -1; ; ) {
    const rows = await from.query<Row & { copied_rowid: number }>(page, [last]);
    const newest = rows.at(-1)?.copied_rowid;
    if (newest === undefined) return;
    await insertRows(
      to,
      table,
      rows.map(({ copied_rowid: _, ...row }) => row),
    );
    last = newest;
  }
}

async function insertRows(to: Transaction, table: string, rows: readonly Row[]): Promise<void> {
  const columns = Object.keys(rows[0] ?? {});
  const values = rows.flatMap((row) => columns.map((column): Value => row[column] ?? null));
  const places = rows.map(
    (_, i) => `(${columns.map((_column, j) => `$${i * columns.length + j + 1}`).join(', ')})`,
  );
  await to.execute(`INSERT INTO ${table} (${columns.join(', ')}) VALUES ${places.join(', ')}`, values);
}

/** Nobody works on them now: no server has the data folder. */
async function giveBackWork(to: Transaction): Promise<void> {
  for (const [table, begun, waiting] of [
    ['jobs', 'running', 'queued'],
    ['webhook_deliveries', 'sending', 'waiting'],
  ]) {
    await to.execute(
      `UPDATE ${table} SET state = '${waiting}', holder = NULL, leased_until_ms = NULL WHERE state = '${begun}'`,
    );
  }
}
