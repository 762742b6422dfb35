// SPDX-License-Identifier: Apache-2.0
//
// Writes 1, 2, 3, ... into two tables of the given SQLite file, each number in one transaction, and prints committed
// numbers, until it is killed.
import { SqliteDatabase } from '../../src/state/database/sqlite-database.js';

const database = new SqliteDatabase(process.argv[2] ?? '');
for (const table of ['things', 'second']) {
  await database.execute(`CREATE TABLE IF NOT EXISTS ${table} (id INTEGER PRIMARY KEY) STRICT`);
}
const [row] = await database.query<{ last: number }>('SELECT COALESCE(MAX(id), 0) AS last FROM things');
for (let id = (row?.last ?? 0) + 1; ; id++) {
  await database.transaction(async (transaction) => {
    await transaction.execute('INSERT INTO things VALUES ($1)', [id]);
    await transaction.execute('INSERT INTO second VALUES ($1)', [id]);
  });
  process.stdout.write(`${id}\n`);
}
