// SPDX-License-Identifier: Apache-2.0
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { parseDatabaseAddress } from '../../src/base/config/database-address.js';
import type { Database } from '../../src/state/database/database.js';
import { PostgresDatabase } from '../../src/state/database/postgres-database.js';
import { clientSettings } from '../../src/state/database/postgres-settings.js';
import { SqliteDatabase } from '../../src/state/database/sqlite-database.js';
import { sharedPostgres } from './postgres.js';
import { temporaryFolder } from './temporary-folder.js';

/** Opens the same database again at each call, as another process would. Closed after the test. */
export type Connect = () => Database;

/** Runs a test on an empty database of each kind. */
export function onEachDatabase(
  name: string,
  run: (connect: Connect, test: TestContext, url?: string) => Promise<void>,
): void {
  test(`${name} (SQLite)`, async (t) => {
    const file = path.join(temporaryFolder(t), 'test.db');
    await run(
      closedAfter(t, () => new SqliteDatabase(file, { pollMs: 20 })),
      t,
    );
  });
  onPostgres(`${name} (PostgreSQL)`, run);
}

/** Runs a test on an empty PostgreSQL database. */
export function onPostgres(
  name: string,
  run: (connect: Connect, test: TestContext, url: string) => Promise<void>,
): void {
  postgres ??= sharedPostgres();
  const startPostgres = postgres;
  test(name, async (t) => {
    const url = await (await startPostgres()).createDatabase();
    await run(
      closedAfter(t, () => postgresAt(url)),
      t,
      url,
    );
  });
}

let postgres: ReturnType<typeof sharedPostgres> | undefined;

export function postgresAt(url: string, connections = 4): PostgresDatabase {
  const address = parseDatabaseAddress(url);
  if (address === undefined) throw new Error(`${url} is not understood.`);
  return new PostgresDatabase(clientSettings(address, ''), connections);
}

function closedAfter(t: TestContext, open: Connect): Connect {
  return () => {
    const database = open();
    t.after(() => database.close());
    return database;
  };
}
