// SPDX-License-Identifier: Apache-2.0
//
// A SQLite file that is in use, that is damaged, or whose process is killed.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { DatabaseError, FailureKind } from '../../src/state/database/database.js';
import { SqliteDatabase, type SqliteOptions } from '../../src/state/database/sqlite-database.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const ofKind = (kind: FailureKind, pattern: RegExp) => (error: unknown) => {
  assert.equal((error as DatabaseError).kind, kind, String(error));
  assert.match((error as Error).message, pattern);
  return true;
};

function open(t: TestContext, file: string, options?: SqliteOptions): SqliteDatabase {
  const database = new SqliteDatabase(file, options);
  t.after(() => database.close());
  return database;
}

const fileFor = (t: TestContext): string => path.join(temporaryFolder(t), 'test.db');

test('a file that is no database is an error that names it and says what to do', async (t) => {
  const file = fileFor(t);
  fs.writeFileSync(file, 'x'.repeat(8192));
  const damaged = ofKind('damaged', /test\.db: file is not a database.*Restore the file/);
  await assert.rejects(open(t, file).query('SELECT 1'), damaged);
  assert.equal(fs.readFileSync(file, 'utf8'), 'x'.repeat(8192));
});

test('a folder in which no file can be made is an error', async (t) => {
  const missing = path.join(temporaryFolder(t), 'missing', 'test.db');
  await assert.rejects(open(t, missing).query('SELECT 1'), ofKind('unavailable', /ENOENT/));
});

test('pages that are damaged later are an error, not wrong rows', async (t) => {
  const file = fileFor(t);
  const writer = new SqliteDatabase(file);
  await writer.execute('CREATE TABLE things (id INTEGER PRIMARY KEY, text TEXT) STRICT');
  for (let id = 0; id < 100; id++) {
    await writer.execute('INSERT INTO things VALUES ($1, $2)', [id, 'x'.repeat(1000)]);
  }
  await writer.close();
  const descriptor = fs.openSync(file, 'r+');
  fs.writeSync(descriptor, Buffer.alloc(20_000, 0xff), 0, 20_000, 4096);
  fs.closeSync(descriptor);
  await assert.rejects(open(t, file).query('SELECT * FROM things'), ofKind('damaged', /malformed/));
});

test('its files are readable by their owner only', async (t) => {
  const file = fileFor(t);
  await open(t, file).execute('CREATE TABLE things (id INTEGER)');
  for (const name of ['', '-wal', '-shm']) {
    assert.equal(fs.statSync(`${file}${name}`).mode & 0o777, 0o600, name);
  }
});

test('another process that holds the file for too long is an error; for a moment, it is waited for', async (t) => {
  const file = fileFor(t);
  const [holder, impatient, patient] = [open(t, file), open(t, file, { busyTimeoutMs: 50 }), open(t, file)];
  await holder.execute('CREATE TABLE things (id INTEGER)');
  let waiting: Promise<number> | undefined;
  await holder.transaction(async (transaction) => {
    const insert = 'INSERT INTO things VALUES ($1)';
    await transaction.execute(insert, [1]);
    await assert.rejects(impatient.execute(insert, [2]), ofKind('busy', /held it for too long/));
    waiting = patient.execute(insert, [3]);
  });
  await waiting;
  const rows = await holder.query('SELECT id FROM things ORDER BY id');
  assert.deepEqual(rows, [{ id: 1 }, { id: 3 }]);
});

test('a write that has waited in vain does not hold up those after it', async (t) => {
  const file = fileFor(t);
  const [holder, impatient] = [open(t, file), open(t, file, { busyTimeoutMs: 20 })];
  await holder.execute('CREATE TABLE things (id INTEGER CHECK (id < 9))');
  await impatient.query('SELECT id FROM things');
  for (const sql of [
    'INSERT INTO things VALUES (1)',
    'INSERT INTO things VALUES (1) RETURNING id',
    'UPDATE things SET id = 2',
    'DELETE FROM things WHERE id = 2',
  ]) {
    await holder.transaction(() => assert.rejects(impatient.query(sql), ofKind('busy', /too long/)));
    await impatient.transaction((transaction) => transaction.execute('INSERT INTO things VALUES (3)'));
  }
  assert.deepEqual(await holder.query('SELECT DISTINCT id FROM things'), [{ id: 3 }]);
  await assert.rejects(impatient.execute('INSERT INTO things VALUES (9)'), ofKind('constraint', /CHECK/));
  assert.equal(await impatient.execute('INSERT INTO things VALUES (4)'), 1);
});

test('what was acknowledged outlives a kill, and a transaction is never half there', async (t) => {
  const file = fileFor(t);
  const writer = fileURLToPath(new URL('../support/database-writer.js', import.meta.url));
  for (let round = 1; round <= 2; round++) {
    const child = spawn(process.execPath, [writer, file], { stdio: ['ignore', 'pipe', 'inherit'] });
    let last = 0;
    for await (const line of createInterface({ input: child.stdout })) {
      last = Number(line);
      if (last >= round * 20) child.kill('SIGKILL');
    }
    const database = new SqliteDatabase(file);
    const [row] = await database.query<{ n: number; last: number; halves: number }>(
      'SELECT COUNT(*) AS n, MAX(id) AS last, (SELECT COUNT(*) FROM second) AS halves FROM things',
    );
    assert.ok(row && row.last >= last, `${last} was acknowledged, ${row?.last} is there`);
    assert.deepEqual([row.n, row.halves], [row.last, row.last]);
    await database.close();
  }
});

test('a program that has nothing more to ask ends', async (t) => {
  const module = new URL('../../src/state/database/sqlite-database.js', import.meta.url);
  const program = path.join(temporaryFolder(t), 'program.mjs');
  fs.writeFileSync(
    program,
    `import { SqliteDatabase } from '${module}';
    const database = new SqliteDatabase('${fileFor(t)}');
    console.log(await database.query('SELECT 7 AS seven'));`,
  );
  const child = spawn(process.execPath, [program]);
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  const [status] = await once(child, 'close');
  assert.deepEqual([status, output], [0, '[ { seven: 7 } ]\n']);
});
