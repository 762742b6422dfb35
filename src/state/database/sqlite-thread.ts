// SPDX-License-Identifier: Apache-2.0
//
// The thread that owns the connection to a SQLite file: a durable write takes milliseconds, which the main thread does not have.
import '../../base/observe/report-without-network.js';
import fs from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import Database from 'libsql';
import type { Row, Value } from './database.js';

export interface SqliteThreadData {
  readonly file: string;
  readonly busyTimeoutMs: number;
  readonly pollMs: number;
}

export type SqliteOrder =
  | { readonly kind: 'query'; readonly sql: string; readonly parameters: readonly Value[] }
  | { readonly kind: 'script'; readonly sql: string }
  | { readonly kind: 'watch' }
  | { readonly kind: 'close' };

export type SqliteTask = SqliteOrder & { readonly id: number };

export interface SqliteResult {
  readonly rows: Row[];
  readonly changes: number;
}

export type SqliteMessage =
  | ({ readonly id: number } & SqliteResult)
  | { readonly id: number; readonly code: string; readonly message: string }
  /** Another connection has committed something. */
  | { readonly kind: 'changed' };

const { file, busyTimeoutMs, pollMs } = workerData as SqliteThreadData;
/** Statements are few, and preparing one takes longer than running it. */
const MAX_PREPARED = 200;

let database: Database.Database | undefined;
const prepared = new Map<string, Database.Statement>();
let watching: NodeJS.Timeout | undefined;
const nothing: SqliteResult = { rows: [], changes: 0 };

function open(): Database.Database {
  // SQLite gives its other files the mode of this one.
  fs.closeSync(fs.openSync(file, 'a', 0o600));
  const opened = new Database(file, { timeout: busyTimeoutMs });
  try {
    const [journal] = opened.prepare('PRAGMA journal_mode = WAL').all() as { journal_mode: string }[];
    if (journal?.journal_mode !== 'wal') {
      throw new Error('Its file system has no shared memory, which a write-ahead log needs.');
    }
    opened.exec('PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF');
    opened.exec('PRAGMA journal_size_limit = 67108864');
    return opened;
  } catch (error) {
    opened.close();
    throw error;
  }
}

type Query = Extract<SqliteOrder, { kind: 'query' }>;

const WRITES = /^\s*(?:INSERT|UPDATE|DELETE|CREATE|DROP|ALTER)\b/i;

function run(query: Query): SqliteResult {
  database ??= open();
  return WRITES.test(query.sql) && !database.inTransaction ? write(database, query) : answer(query);
}

/**
 * A prepared statement that has waited for others in vain stays in progress, because the binding does not reset it: no
 * transaction could be committed until it runs again. So it is BEGIN that waits.
 */
function write(opened: Database.Database, query: Query): SqliteResult {
  opened.exec('BEGIN IMMEDIATE');
  try {
    const result = answer(query);
    opened.exec('COMMIT');
    return result;
  } catch (error) {
    // Some errors have ended it already.
    if (opened.inTransaction) opened.exec('ROLLBACK');
    throw error;
  }
}

function answer({ sql, parameters }: Query): SqliteResult {
  const statement = statementOf(sql);
  const bound = parameters.map(toBound);
  if (statement.reader) {
    const rows = statement.all(bound) as Record<string, Value | ArrayBuffer>[];
    return { rows: rows.map(toRow), changes: 0 };
  }
  return { rows: [], changes: statement.run(bound).changes };
}

function statementOf(sql: string): Database.Statement {
  database ??= open();
  const known = prepared.get(sql);
  if (known !== undefined) return known;
  // The binding takes `$1` for a name.
  const statement = database.prepare(sql.replaceAll(/\$(\d+)/g, '?$1'));
  if (prepared.size >= MAX_PREPARED) prepared.clear();
  prepared.set(sql, statement);
  return statement;
}

/** The binding stores every number as a float, and ends the process if it gets a truth value: see statement.ts. */
const toBound = (value: Value): unknown => {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : value;
  return value instanceof Uint8Array ? Buffer.from(value) : value;
};

const toRow = (row: Record<string, Value | ArrayBuffer>): Row =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      // A copy: pieces of Node's shared memory cannot be handed over.
      value instanceof ArrayBuffer || value instanceof Uint8Array ? new Uint8Array(value) : value,
    ]),
  );

/** SQLite has no notifications, but a number that changes with every commit of others. */
function watch(): void {
  let seen = versionOf(0);
  watching = setInterval(() => {
    const version = versionOf(seen);
    if (version === seen) return;
    seen = version;
    parentPort?.postMessage({ kind: 'changed' } satisfies SqliteMessage);
  }, pollMs);
}

function versionOf(otherwise: number): number {
  try {
    const [row] = statementOf('PRAGMA data_version').all() as { data_version: number }[];
    return row?.data_version ?? otherwise;
  } catch {
    // The next statement has the same error, and a caller to tell.
    return otherwise;
  }
}

function follow(order: SqliteOrder): SqliteResult {
  if (order.kind === 'query') return run(order);
  if (order.kind === 'script') {
    database ??= open();
    database.exec(order.sql);
  }
  if (order.kind === 'watch') watch();
  if (order.kind === 'close') {
    clearInterval(watching);
    prepared.clear();
    database?.close();
    parentPort?.close();
  }
  return nothing;
}

/** The binding has names for some of the finer codes only: the last eight bits are the well-known ones. */
const primaryCodes: Readonly<Record<number, string>> = {
  5: 'SQLITE_BUSY',
  8: 'SQLITE_READONLY',
  10: 'SQLITE_IOERR',
  11: 'SQLITE_CORRUPT',
  13: 'SQLITE_FULL',
  14: 'SQLITE_CANTOPEN',
  19: 'SQLITE_CONSTRAINT',
  26: 'SQLITE_NOTADB',
};

function codeOf(error: unknown): string {
  const { code = 'SQLITE_ERROR', rawCode = 0 } = error as { code?: string; rawCode?: number };
  return primaryCodes[rawCode & 0xff] ?? code;
}

parentPort?.on('message', (task: SqliteTask) => {
  let message: SqliteMessage;
  try {
    message = { id: task.id, ...follow(task) };
  } catch (error) {
    message = { id: task.id, code: codeOf(error), message: (error as Error).message };
  }
  parentPort?.postMessage(message);
});
