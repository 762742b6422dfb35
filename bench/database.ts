// SPDX-License-Identifier: Apache-2.0
//
// What the database takes, on SQLite and on a PostgreSQL of its own, both with durable writes in the system's temporary folder. Writes
// bench/results/database.json.
//
//   npm run bench:database [-- --seconds 3]
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { packageDir } from '../src/base/config/package-dir.js';
import type { Database } from '../src/state/database/database.js';
import { migrate } from '../src/state/database/migrate.js';
import { migrations } from '../src/state/database/migrations/migrations.js';
import { SqliteDatabase } from '../src/state/database/sqlite-database.js';
import { newKey } from '../src/state/keys/api-key.js';
import { KeyRegistry } from '../src/state/keys/key-registry.js';
import { RateWindows } from '../src/state/rates/rate-windows.js';
import { UsageLedger } from '../src/state/records/usage-ledger.js';
import { postgresAt } from '../test/support/databases.js';
import { startPostgres } from '../test/support/postgres.js';
import { storeKeys } from '../test/support/stored-keys.js';
import { describeMachine } from './machine.js';

const { values } = parseArgs({ options: { seconds: { type: 'string', default: '3' } } });
const durationMs = Number(values.seconds) * 1000;

const KEYS = 10_000;
const ROWS = 1000;

/** Milliseconds that one takes, and how many are done per second by so many at a time. */
async function timed(atATime: number, work: (i: number) => Promise<unknown>) {
  const tookMs: number[] = [];
  const startMs = performance.now();
  let next = 0;
  const worker = async (): Promise<void> => {
    while (performance.now() < startMs + durationMs) {
      const beginMs = performance.now();
      await work(next++);
      tookMs.push(performance.now() - beginMs);
    }
  };
  await Promise.all(Array.from({ length: atATime }, worker));
  const perS = tookMs.length / ((performance.now() - startMs) / 1000);
  tookMs.sort((a, b) => a - b);
  const at = (share: number): number =>
    Number((tookMs[Math.floor(share * (tookMs.length - 1))] ?? Number.NaN).toFixed(3));
  return { at_a_time: atATime, per_s: Math.round(perS), p50_ms: at(0.5), p99_ms: at(0.99) };
}

async function measure(database: Database) {
  await migrate(database, migrations);
  const keys = new KeyRegistry(database);
  const stored = Array.from({ length: KEYS }, () => newKey({ name: 'bench', scopes: ['predict'] }).key);
  await storeKeys(database, stored);
  const ledger = new UsageLedger(database);
  const batch = (i: number, rows: number, name: string) => ({
    id: `${name} ${i}`,
    day: '2026-01-01',
    rows: Array.from({ length: rows }, (_, row) => ({
      keyId: `key ${row}`,
      account: 'bench',
      route: '/v1/predict',
      requests: 1,
      errors: 0,
      audioS: 5,
      windows: 1,
      bytes: 160_000,
    })),
  });
  // Of different keys: on one row, writers would wait for each other.
  const write = (name: string) => (i: number) =>
    database.execute('INSERT INTO usage_batches (id, added_at_ms) VALUES ($1, $2)', [`${name} ${i}`, i]);
  return {
    durable_writes: [await timed(1, write('one')), await timed(8, write('eight'))],
    key_look_ups: [
      await timed(1, (i) => keys.find(stored[(i * 7919) % KEYS]?.id ?? '')),
      await timed(8, (i) => keys.find(stored[(i * 7919) % KEYS]?.id ?? '')),
    ],
    polls_for_changed_keys: [await timed(1, () => keys.changedSince(KEYS, 1000))],
    usage_batches: [
      { rows: 1, ...(await timed(1, (i) => ledger.add(batch(i, 1, 'short')))) },
      { rows: ROWS, ...(await timed(1, (i) => ledger.add(batch(i, ROWS, 'long')))) },
    ],
    ...(database.dialect === 'postgres' && {
      rate_questions: await rateQuestions(new RateWindows(database)),
    }),
  };
}

async function rateQuestions(windows: RateWindows) {
  const limit = { requests: 1e9, windowS: 3600, window: 0 };
  const ask = (keys: number) => () =>
    windows.take(
      Array.from({ length: keys }, (_, key) => ({ keyId: `key ${key}`, ...limit, used: 1, wanted: 10 })),
    );
  return [
    { keys: 1, ...(await timed(1, ask(1))) },
    { keys: 100, ...(await timed(1, ask(100))) },
  ];
}

const folder = mkdtempSync(join(tmpdir(), 'veravox-bench-'));
const postgres = await startPostgres({ fsync: 'on', shared_buffers: '128MB' });
try {
  const sqlite = new SqliteDatabase(join(folder, 'bench.db'));
  const onPostgres = postgresAt(await postgres.createDatabase(), 8);
  const report = {
    what: `durable writes, ${KEYS} keys; ${values.seconds} s each, over a Unix socket`,
    machine: describeMachine(),
    sqlite: await measure(sqlite),
    postgres: await measure(onPostgres),
  };
  await Promise.all([sqlite.close(), onPostgres.close()]);
  const json = JSON.stringify(report, null, 2);
  console.log(json);
  writeFileSync(join(packageDir, 'bench/results/database.json'), `${json}\n`);
} finally {
  await postgres.remove();
  rmSync(folder, { recursive: true });
}
