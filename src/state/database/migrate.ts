// SPDX-License-Identifier: Apache-2.0
import type { Database, Dialect, Queries, Transaction } from './database.js';

/** One step forward of the tables. A released one never changes; there are no steps back. */
export interface Migration {
  /** Its number in the list and what it is about, as its file is called: `0001-initial`. */
  readonly name: string;
  /** One for both dialects if the SQL is the same. */
  readonly sql: string | Readonly<Record<Dialect, string>>;
}

/** The first step of versions before 0.3.0, none of which was released. */
const FIRST_BEFORE_0_3 = '0001-api-keys';

/** The tables are of a program that this one does not know. */
export class ForeignTables extends Error {
  override readonly name = 'ForeignTables';
}

/**
 * Brings the tables to the newest version, once, also when several hosts start at the same time. All steps or none.
 * @throws ForeignTables, DatabaseError
 */
export async function migrate(database: Database, migrations: readonly Migration[]): Promise<void> {
  // Most starts find everything done, and need no lock for that.
  if ((await countPending(database, migrations)) === 0) return;
  await database.transaction(
    async (transaction) => {
      const applied = await appliedTo(transaction);
      for (const [version, migration] of pending(applied, migrations, database.name)) {
        await apply(transaction, version, migration);
      }
    },
    { lock: 'migrate', isLong: true },
  );
}

/** The number of steps of the next start. @throws ForeignTables, DatabaseError */
export const countPending = async (database: Database, migrations: readonly Migration[]): Promise<number> =>
  pending(await appliedTo(database), migrations, database.name).length;

async function apply(transaction: Transaction, version: number, { name, sql }: Migration): Promise<void> {
  if (version === 1) await transaction.script(firstTable[transaction.dialect]);
  await transaction.script(typeof sql === 'string' ? sql : sql[transaction.dialect]);
  await transaction.execute(
    'INSERT INTO schema_migrations (version, name, applied_at_ms) VALUES ($1, $2, $3)',
    [version, name, Date.now()],
  );
}

function pending(
  applied: readonly string[],
  migrations: readonly Migration[],
  database: string,
): [version: number, migration: Migration][] {
  if (applied[0] === FIRST_BEFORE_0_3) {
    throw new ForeignTables(
      `The database ${database} was made by a version before 0.3.0, whose data this program cannot take over. Go on with that ` +
        'version, or begin with an empty database: move the file veravox.db away, or name another one in VERAVOX_DATABASE_URL.',
    );
  }
  const foreign = applied.findIndex((name, i) => migrations[i]?.name !== name);
  if (foreign >= 0) {
    throw new ForeignTables(
      `The database ${database} has tables of version ${applied.length} (${applied[foreign]}), but this program supports ` +
        `versions up to ${migrations.length}. A newer veravox made them: use that one, or restore a backup from before.`,
    );
  }
  return migrations.slice(applied.length).map((migration, i) => [applied.length + i + 1, migration]);
}

const versionTable =
  'CREATE TABLE schema_migrations (version BIGINT PRIMARY KEY, name TEXT NOT NULL, applied_at_ms BIGINT NOT NULL)';

const firstTable: Readonly<Record<Dialect, string>> = {
  sqlite: versionTable,
  // An operator may have made the schema for a user without that right.
  postgres: `DO $$ BEGIN IF to_regnamespace('veravox') IS NULL THEN CREATE SCHEMA veravox; END IF; END $$; ${versionTable}`,
};

const findTable: Readonly<Record<Dialect, string>> = {
  sqlite: "SELECT name FROM sqlite_schema WHERE type = 'table' AND name = 'schema_migrations'",
  postgres:
    "SELECT tablename FROM pg_catalog.pg_tables WHERE schemaname = 'veravox' AND tablename = 'schema_migrations'",
};

/** The names of the migrations that were applied, in their order. */
async function appliedTo(queries: Queries): Promise<string[]> {
  if ((await queries.query(findTable[queries.dialect])).length === 0) return [];
  const rows = await queries.query<{ name: string }>('SELECT name FROM schema_migrations ORDER BY version');
  return rows.map(({ name }) => name);
}
