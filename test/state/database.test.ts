// SPDX-License-Identifier: Apache-2.0
//
// Promises of both databases, in the same tests.
import assert from 'node:assert/strict';
import type { Database, DatabaseError, FailureKind, Value } from '../../src/state/database/database.js';
import { ForeignTables, migrate } from '../../src/state/database/migrate.js';
import { migrations } from '../../src/state/database/migrations/migrations.js';
import { onEachDatabase } from '../support/databases.js';
import { eventually } from '../support/eventually.js';

const things = {
  name: '0001-things',
  sql: {
    sqlite: 'CREATE TABLE things (id INTEGER PRIMARY KEY, text TEXT, share REAL, bytes BLOB) STRICT',
    postgres: 'CREATE TABLE things (id BIGINT PRIMARY KEY, text TEXT, share DOUBLE PRECISION, bytes BYTEA)',
  },
};
const insert = 'INSERT INTO things (id, text, share, bytes) VALUES ($1, $2, $3, $4)';

async function withThings(database: Database): Promise<Database> {
  await migrate(database, [things]);
  return database;
}

const ids = async (database: Database): Promise<Value[]> =>
  (await database.query<{ id: number }>('SELECT id FROM things ORDER BY id')).map(({ id }) => id);

const ofKind = (kind: FailureKind) => (error: unknown) => {
  assert.equal((error as DatabaseError).name, 'DatabaseError', String(error));
  assert.equal((error as DatabaseError).kind, kind, String(error));
  return true;
};

onEachDatabase('a statement that is wrong, or breaks a rule of a table, says which', async (connect) => {
  const database = await withThings(connect());
  await assert.rejects(database.query('SELEC 1'), ofKind('faulty'));
  await assert.rejects(database.query('SELECT * FROM nothing'), ofKind('faulty'));
  await database.execute(insert, [1, null, null, null]);
  await assert.rejects(database.execute(insert, [1, null, null, null]), ofKind('constraint'));
  await assert.rejects(database.execute(insert, ['not a number', null, null, null]));
  assert.deepEqual(await ids(database), [1]);
});

onEachDatabase('what a dialect would change or misread is refused before it gets there', async (connect) => {
  const database = await withThings(connect());
  const wrong: unknown[][] = [
    [1, 'a\0b', null, null],
    [Number.NaN, null, null, null],
    [true, null, null, null],
    [undefined, null, null, null],
    [1n, null, null, null],
    [new Date(), null, null, null],
    [1, null, null],
    [1, null, null, null, null],
  ];
  for (const values of wrong) {
    await assert.rejects(database.execute(insert, values as Value[]), ofKind('faulty'), String(values));
  }
  assert.deepEqual(await ids(database), []);
});

onEachDatabase('values come back as they were given', async (connect) => {
  const database = await withThings(connect());
  const bytes = Uint8Array.from({ length: 256 }, (_, i) => i);
  const rows: Value[][] = [
    [Number.MAX_SAFE_INTEGER, 'quotes \' " and ü 😀\n$1', 0.1, bytes],
    [-5, '', 1e300, new Uint8Array()],
    [0, null, null, null],
    [7, '7', 7, null],
  ];
  for (const row of rows) assert.equal(await database.execute(insert, row), 1);
  for (const [id = 0, text = '', share = 0, given = null] of rows) {
    const [found] = await database.query('SELECT * FROM things WHERE id = $1', [id]);
    assert.deepEqual([found?.id, found?.text, found?.share], [id, text, share]);
    assert.deepEqual(found?.bytes && [...(found.bytes as Uint8Array)], given && [...(given as Uint8Array)]);
  }
  assert.equal(await database.execute('UPDATE things SET bytes = $1', [bytes]), rows.length);
  const [changed] = await database.query<{ bytes: Uint8Array }>('SELECT bytes FROM things');
  assert.deepEqual([...(changed?.bytes ?? [])], [...bytes]);
  const [sums] = await database.query(
    'SELECT COUNT(*) AS n, SUM(id) AS total FROM things WHERE id < $1',
    [8],
  );
  assert.deepEqual([sums?.n, sums?.total], [3, 2]);
});

onEachDatabase('statements count the rows that they change, and can answer with them', async (connect) => {
  const database = await withThings(connect());
  const many = 'INSERT INTO things (id) VALUES ($1), ($2), ($3) ON CONFLICT (id) DO NOTHING';
  assert.equal(await database.execute(many, [1, 2, 3]), 3);
  assert.equal(await database.execute(many, [3, 4, 1]), 1);
  const raise =
    'INSERT INTO things (id, share) VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET share = COALESCE(things.share, 0) + excluded.share RETURNING share';
  assert.deepEqual(await database.query(raise, [1, 2]), [{ share: 2 }]);
  assert.deepEqual(await database.query(raise, [1, 3]), [{ share: 5 }]);
  assert.equal(await database.execute('DELETE FROM things WHERE id = $1 OR id = $2', [1, 9]), 1);
});

onEachDatabase('a transaction that fails changes nothing', async (connect) => {
  const database = await withThings(connect());
  const failing = database.transaction(async (transaction) => {
    await transaction.execute(insert, [1, null, null, null]);
    throw new Error('second thoughts');
  });
  await assert.rejects(failing, /second thoughts/);
  const broken = database.transaction(async (transaction) => {
    await transaction.execute(insert, [2, null, null, null]);
    await transaction.execute(insert, [2, null, null, null]);
  });
  await assert.rejects(broken, ofKind('constraint'));
  assert.deepEqual(await ids(database), []);
  assert.equal(await database.transaction(async () => 'and the next one works'), 'and the next one works');
});

onEachDatabase('others see a transaction as a whole', async (connect) => {
  const [database, other] = [await withThings(connect()), connect()];
  await database.transaction(async (transaction) => {
    await transaction.execute(insert, [1, null, null, null]);
    assert.deepEqual(await ids(other), []);
    await transaction.execute(insert, [2, null, null, null]);
  });
  assert.deepEqual(await ids(other), [1, 2]);
});

onEachDatabase(
  'inside a transaction, the database itself refuses instead of waiting for ever',
  async (connect) => {
    const database = await withThings(connect());
    await database.transaction(async () => {
      await assert.rejects(database.query('SELECT 1'), ofKind('faulty'));
      await assert.rejects(
        database.transaction(async () => {}),
        ofKind('faulty'),
      );
    });
  },
);

onEachDatabase(
  'transactions of the same lock come one after the other, over all connections',
  async (connect) => {
    const connections = [await withThings(connect()), connect(), connect()];
    const increment = (database: Database): Promise<void> =>
      database.transaction(
        async (transaction) => {
          const [row] = await transaction.query<{ n: number }>('SELECT COUNT(*) AS n FROM things');
          await transaction.execute(insert, [row?.n ?? 0, null, null, null]);
        },
        { lock: 'count' },
      );
    // Without the lock, two of them would count the same and collide.
    await Promise.all([...connections, ...connections, ...connections].map(increment));
    assert.deepEqual(await ids(connections[0] as Database), [0, 1, 2, 3, 4, 5, 6, 7, 8]);
  },
);

onEachDatabase(
  'those who follow a topic hear of commits on other connections, and their own',
  async (connect) => {
    const [database, other] = [await withThings(connect()), connect()];
    let heard = 0;
    const end = other.follow('things', () => heard++);
    const own = { heard: 0 };
    database.follow('things', () => own.heard++);
    // Following begins with a look, which may take a moment.
    const change = (id: number): Promise<void> =>
      database.transaction(async (transaction) => {
        await transaction.execute(insert, [id, null, null, null]);
        await transaction.announce('things');
      });
    await change(1);
    await eventually(() => heard > 0 && own.heard > 0, 'both hear of the first');
    for (let id = 2; id < 5; id++) {
      const before = { other: heard, own: own.heard };
      await change(id);
      await eventually(() => heard > before.other && own.heard > before.own, `both hear of ${id}`);
    }
    end();
    const atEnd = { other: heard, own: own.heard };
    await change(9);
    await eventually(() => own.heard > atEnd.own, 'the other one still hears');
    assert.equal(heard, atEnd.other);
  },
);

onEachDatabase(
  'migrations run once, in order, also when several hosts start at the same time',
  async (connect) => {
    const second = { name: '0002-more', sql: 'ALTER TABLE things ADD COLUMN more TEXT; DELETE FROM things' };
    const databases = [connect(), connect(), connect()];
    await Promise.all(databases.map((database) => migrate(database, [things])));
    const [database] = databases as [Database];
    await database.execute(insert, [1, null, null, null]);
    await Promise.all(databases.map((database) => migrate(database, [things, second])));
    assert.deepEqual(await ids(database), []);
    await database.execute('INSERT INTO things (id, more) VALUES ($1, $2)', [2, 'kept']);
    await Promise.all(databases.map((database) => migrate(database, [things, second])));
    assert.deepEqual(await ids(database), [2]);
    const versions = await database.query('SELECT version, name FROM schema_migrations ORDER BY version');
    assert.deepEqual(versions, [
      { version: 1, name: '0001-things' },
      { version: 2, name: '0002-more' },
    ]);
  },
);

onEachDatabase('a migration that fails leaves the tables as they were', async (connect) => {
  const database = await withThings(connect());
  const half = { name: '0002-half', sql: 'CREATE TABLE half (a TEXT); SELECT * FROM nothing' };
  await assert.rejects(migrate(database, [things, half]), ofKind('faulty'));
  await assert.rejects(database.query('SELECT * FROM half'), ofKind('faulty'));
  assert.equal((await database.query('SELECT * FROM schema_migrations')).length, 1);
});

onEachDatabase('tables of a newer program are refused, and left as they are', async (connect) => {
  const database = connect();
  const newer = { name: '0002-newer', sql: 'CREATE TABLE newer (a TEXT)' };
  await migrate(database, [things, newer]);
  await assert.rejects(migrate(database, [things]), (error: Error) => {
    assert.ok(error instanceof ForeignTables);
    assert.match(error.message, /version 2 \(0002-newer\).*up to 1\..*newer veravox/);
    return true;
  });
  assert.deepEqual(await database.query('SELECT * FROM newer'), []);
});

onEachDatabase('tables of before 0.3.0 are refused, and left as they are', async (connect) => {
  const database = connect();
  await migrate(database, [{ name: '0001-api-keys', sql: 'CREATE TABLE api_keys (id TEXT)' }]);
  await assert.rejects(migrate(database, migrations), (error: Error) => {
    assert.ok(error instanceof ForeignTables);
    assert.match(error.message, /was made by a version before 0\.3\.0.*begin with an empty database/);
    return true;
  });
  assert.deepEqual(await database.query('SELECT * FROM api_keys'), []);
});

onEachDatabase('after it is closed, a database refuses', async (connect) => {
  const database = await withThings(connect());
  const last = database.execute(insert, [1, null, null, null]);
  await Promise.all([last, database.close(), database.close()]);
  await assert.rejects(database.query('SELECT 1'), ofKind('unavailable'));
});
