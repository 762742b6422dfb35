// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DatabaseError } from '../../src/state/database/database.js';
import { migrate } from '../../src/state/database/migrate.js';
import { migrations } from '../../src/state/database/migrations/migrations.js';
import { WatchedDatabase } from '../../src/state/database/watched-database.js';
import { whyUnusable, writeProblemOf } from '../../src/state/database/write-problem.js';
import { postgresAt } from '../support/databases.js';
import { eventually } from '../support/eventually.js';
import { sharedPostgres } from '../support/postgres.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const postgres = sharedPostgres();

test('errors of the database and of the file system say why nothing can be written', () => {
  const withCode = (code: string, cause?: unknown) => Object.assign(new Error(code, { cause }), { code });
  for (const code of ['SQLITE_FULL', 'ENOSPC', 'EDQUOT', '53100'])
    assert.equal(writeProblemOf(withCode(code)), 'full');
  for (const code of ['SQLITE_READONLY_DBMOVED', 'EROFS', '25006'])
    assert.equal(writeProblemOf(withCode(code)), 'read_only');
  assert.equal(writeProblemOf(withCode('ANY', withCode('ENOSPC'))), 'full');
  for (const other of [withCode('EACCES'), new Error('any'), undefined, 'ENOSPC']) {
    assert.equal(writeProblemOf(other), undefined);
    assert.equal(whyUnusable(other), undefined);
  }
  assert.match(whyUnusable(withCode('ENOSPC')) ?? '', /no room/);
  assert.match(whyUnusable(new DatabaseError('busy', 'SQLITE_BUSY', 'any')) ?? '', /another process/);
  assert.match(whyUnusable(new DatabaseError('unavailable', 'CONNECTION', 'any')) ?? '', /does not answer/);
  assert.equal(whyUnusable(new DatabaseError('constraint', '23505', 'any')), undefined);
});

test('PostgreSQL that only reads, as after a failover, is noticed without a request, and so is its end', async (t) => {
  const server = await postgres();
  const name = await server.createDatabase();
  const own = postgresAt(name);
  await migrate(own, migrations);
  const changes: unknown[] = [];
  const watched = new WatchedDatabase(own, {
    dataDir: temporaryFolder(t),
    lookMs: 20,
    onChange: (problem) => changes.push(problem),
  });
  t.after(() => watched.close());
  const other = postgresAt(name);
  t.after(() => other.close());
  const setReadOnly = async (state: 'on' | 'off'): Promise<void> => {
    await other.execute(`SET default_transaction_read_only = off`);
    const [row] = await other.query<{ name: string }>('SELECT current_database() AS name');
    await other.execute(`ALTER DATABASE "${row?.name}" SET default_transaction_read_only = ${state}`);
    await other.query(
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
    );
  };
  await setReadOnly('on');
  await eventually(() => watched.problem === 'read_only', 'it is noticed');
  await assert.rejects(watched.execute('DELETE FROM revisions'), { code: '25006' });
  await setReadOnly('off');
  await eventually(() => watched.problem === undefined, 'it is over');
  assert.deepEqual(changes, ['read_only', undefined]);
});
