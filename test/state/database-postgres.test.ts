// SPDX-License-Identifier: Apache-2.0
//
// A PostgreSQL server that disappears, refuses, or is an impostor.
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import net from 'node:net';
import { after, test } from 'node:test';
import { parseDatabaseAddress } from '../../src/base/config/database-address.js';
import { JobTable } from '../../src/jobs/queue/job-table.js';
import { JobWorkTable } from '../../src/jobs/queue/job-work-table.js';
import type { DatabaseError } from '../../src/state/database/database.js';
import { migrate } from '../../src/state/database/migrate.js';
import { migrations } from '../../src/state/database/migrations/migrations.js';
import { PostgresDatabase } from '../../src/state/database/postgres-database.js';
import { clientSettings } from '../../src/state/database/postgres-settings.js';
import { makeCertificate } from '../support/certificates.js';
import { postgresAt } from '../support/databases.js';
import { eventually } from '../support/eventually.js';
import { newJob } from '../support/new-job.js';
import { PASSWORD, PostgresServer } from '../support/postgres.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const port = await freePort();
const server = new PostgresServer({
  listen_addresses: '127.0.0.1,127.0.0.2',
  port: String(port),
  ssl: 'on',
  ssl_cert_file: 'server.crt',
  ssl_key_file: 'server.key',
});
const { certFile, keyFile } = makeCertificate(server.file('data'), 'server');
for (const file of [certFile, keyFile]) server.own(file);
await server.start();
after(() => server.remove());

/** Below the system's own ports, so that no other test gets it meanwhile. */
async function freePort(): Promise<number> {
  for (;;) {
    const port = 20_000 + randomInt(10_000);
    const probe = net.createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      probe.once('error', () => resolve(false));
      probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
    });
    if (isFree) return port;
  }
}

const unavailable = (error: unknown): boolean => {
  assert.equal((error as DatabaseError).kind, 'unavailable', String(error));
  return true;
};

test('while the server is away, everything fails soon and says so; afterwards it works again', async (t) => {
  const database = postgresAt(await server.createDatabase());
  t.after(() => database.close());
  let heard = 0;
  database.follow('anything', () => heard++);
  await eventually(() => heard === 1, 'it listens');
  await database.execute('CREATE TABLE public.things (id INTEGER)');
  await server.stop();
  await assert.rejects(database.query('SELECT 1'), unavailable);
  await assert.rejects(
    database.transaction(async () => {}),
    unavailable,
  );
  await server.start();
  await database.execute('INSERT INTO public.things VALUES ($1)', [1]);
  await eventually(() => heard >= 2, 'those who follow look again, since something may have been missed');
});

test('a connection that is cut inside a transaction undoes it, and nothing else', async (t) => {
  const database = postgresAt(await server.createDatabase(), 1);
  t.after(() => database.close());
  await database.execute('CREATE TABLE public.things (id INTEGER)');
  const cut = database.transaction(async (transaction) => {
    await transaction.execute('INSERT INTO public.things VALUES ($1)', [1]);
    const [row] = await transaction.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    await server.run('postgres', `SELECT pg_terminate_backend(${row?.pid}, 10000)`);
    await transaction.execute('INSERT INTO public.things VALUES ($1)', [2]);
  });
  await assert.rejects(cut, unavailable);
  assert.deepEqual(await database.query('SELECT * FROM public.things'), []);
});

test('a slow answer costs no one else who waits for a connection', async (t) => {
  const database = postgresAt(await server.createDatabase(), 2);
  t.after(() => database.close());
  let end = (): void => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  t.after(() => end());
  let isBegun = false;
  const long = database.transaction(async () => {
    isBegun = true;
    await ended;
  });
  await eventually(() => isBegun, 'one connection is in use');
  // The other one does not answer in time, and is left.
  const slow = database.queryPromptly('SELECT pg_sleep(20)::TEXT', [], 300);
  const waiting = database.query('SELECT 1 AS one');
  await assert.rejects(slow, unavailable);
  assert.deepEqual(await waiting, [{ one: 1 }]);
  end();
  await long;
});

test('work that waits for a lock leaves connections to others', async (t) => {
  const url = await server.createDatabase();
  const [one, other] = [postgresAt(url, 2), postgresAt(url, 1)];
  let end = (): void => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  t.after(async () => {
    end();
    await Promise.all([one.close(), other.close()]);
  });
  let isHeld = false;
  const held = other.transaction(
    async () => {
      isHeld = true;
      await ended;
    },
    { lock: 'jobs of a' },
  );
  await eventually(() => isHeld, 'another host has the lock');
  const order: number[] = [];
  const waiting = Array.from({ length: 5 }, (_, i) =>
    one.transaction(async () => order.push(i), { lock: 'jobs of a' }),
  );
  assert.deepEqual(await one.query('SELECT 1 AS one'), [{ one: 1 }]);
  assert.deepEqual(order, []);
  end();
  await Promise.all([held, ...waiting]);
  assert.deepEqual(order, [0, 1, 2, 3, 4]);
});

/** Waits less than usual for connections and locks. */
function impatient(url: string, connections: number): PostgresDatabase {
  const address = parseDatabaseAddress(url) ?? assert.fail();
  return new PostgresDatabase({ ...clientSettings(address, ''), connectionTimeoutMillis: 1000 }, connections);
}

const answered = (database: PostgresDatabase): Promise<void> =>
  eventually(async () => {
    const rows = await database.queryPromptly('SELECT 1 AS one', [], 60_000).catch(() => []);
    return rows.length > 0;
  }, 'it answers');

/** A transaction that is not over before it is told so. */
async function held(database: PostgresDatabase, lock?: string) {
  let end = (): void => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  let isHeld = false;
  const transaction = database.transaction(
    async () => {
      isHeld = true;
      await ended;
    },
    lock === undefined ? {} : { lock },
  );
  await eventually(() => isHeld, 'it has a connection');
  return {
    end(): Promise<void> {
      end();
      return transaction;
    },
  };
}

test('work gives up a place in a line for a lock that does not move', async (t) => {
  const database = impatient(await server.createDatabase(), 2);
  await answered(database);
  const first = await held(database, 'jobs of a');
  t.after(async () => {
    await first.end();
    await database.close();
  });
  const order: string[] = [];
  const queued = (what: string) =>
    database.transaction(async () => void order.push(what), { lock: 'jobs of a' });
  const ends = await Promise.allSettled([queued('second'), queued('third')]);
  for (const end of ends) {
    assert.ok(end.status === 'rejected');
    assert.equal((end.reason as DatabaseError).kind, 'busy', 'nothing was done');
  }
  await first.end();
  await queued('fourth');
  assert.deepEqual(order, ['fourth']);
});

test('while connections that did not answer are open, there is one further set at most', async (t) => {
  const database = impatient(await server.createDatabase(), 1);
  await answered(database);
  const first = await held(database);
  await answered(database);
  const second = await held(database);
  t.after(async () => {
    await Promise.all([first.end(), second.end()]);
    await database.close();
  });
  await assert.rejects(database.queryPromptly('SELECT 1 AS one', [], 60_000), unavailable);
  await first.end();
  await answered(database);
});

test('a renewal is answered although its connection is dead without a word', async (t) => {
  // Forwards until it is told to swallow everything on the connections that are open.
  const sockets = new Set<net.Socket>();
  const proxy = net.createServer((near) => {
    const far = net.connect(port, '127.0.0.1');
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.on('error', () => {});
      from.on('data', (block) => void (sockets.has(from) && to.write(block)));
      from.on('close', () => to.destroy());
    }
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const url = new URL(
    server.tcpUrl(new URL(await server.createDatabase()).pathname.slice(1), '?sslmode=disable'),
  );
  url.port = String((proxy.address() as net.AddressInfo).port);
  const database = postgresAt(url.href, 2);
  t.after(async () => {
    await database.close();
    proxy.close();
  });
  await migrate(database, migrations);
  const workTable = new JobWorkTable(database);
  await new JobTable(database, { maxUnfinished: 0 }).create(newJob);
  const work = (await workTable.take()) ?? assert.fail();
  sockets.clear();
  await workTable.renew(work, 0.5);
});

test('a listening connection that is cut is opened again, and nothing is missed', async (t) => {
  const database = postgresAt(await server.createDatabase());
  t.after(() => database.close());
  let heard = 0;
  database.follow('things', () => heard++);
  await eventually(() => heard === 1, 'it listens');
  await server.run(
    'postgres',
    "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE application_name = 'veravox'",
  );
  await eventually(() => heard === 2, 'it looks again once it listens again');
  await database.transaction((transaction) => transaction.announce('things'));
  await eventually(() => heard === 3, 'it hears of changes again');
});

test('the server must be who it says, unless the settings waive that', async (t) => {
  const name = new URL(await server.createDatabase()).pathname.slice(1);
  const other = makeCertificate(temporaryFolder(t), 'other');
  const ask = async (parameters: string, caFile = '', host = '127.0.0.1'): Promise<unknown> => {
    const address = parseDatabaseAddress(server.tcpUrl(name, parameters).replace('127.0.0.1', host));
    assert.ok(address);
    const database = new PostgresDatabase(clientSettings(address, caFile), 1);
    try {
      const [row] = await database.query(
        'SELECT ssl::INTEGER AS ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()',
      );
      return row?.ssl;
    } finally {
      await database.close();
    }
  };
  assert.equal(await ask('?sslmode=disable'), 0);
  assert.equal(await ask('?sslmode=require'), 1);
  assert.equal(await ask('?sslmode=verify-full', certFile), 1);
  assert.equal(await ask('?sslmode=verify-ca', certFile), 1);
  for (const mode of ['verify-full', 'verify-ca']) {
    await assert.rejects(ask(`?sslmode=${mode}`), unavailable, 'signed by nobody known');
    await assert.rejects(ask(`?sslmode=${mode}`, other.certFile), unavailable, 'signed by somebody else');
  }
  await assert.rejects(ask('?sslmode=require', other.certFile), unavailable);
  // 127.0.0.2 is also this machine, under a name that the certificate lacks.
  assert.equal(await ask('?sslmode=verify-ca', certFile, '127.0.0.2'), 1);
  await assert.rejects(
    ask('?sslmode=verify-full', certFile, '127.0.0.2'),
    /does not match certificate's altnames/,
  );
});

test('a wrong password is an error that does not repeat it', async () => {
  const wrong = server.tcpUrl('postgres').replace(encodeURIComponent(PASSWORD), 'geheim');
  const database = postgresAt(wrong, 1);
  await assert.rejects(database.query('SELECT 1'), (error: DatabaseError) => {
    assert.match(error.message, /password authentication failed/);
    return !error.message.includes('geheim');
  });
  await database.close();
});
