// SPDX-License-Identifier: Apache-2.0
import fs from 'node:fs';
import net from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import pg from 'pg';
import type { DatabaseAddress } from '../../base/config/database-address.js';
import { lookUpOwn } from '../../base/outgoing/names.js';

/** The schema of all tables, so that a database can be shared with other programs. */
export const SCHEMA = 'veravox';

/** A host is busiest while its programs start. */
export const CONNECT_TIMEOUT_MS = 15_000;
/** The server gives up first, and says why; a connection that is cut says nothing. */
const STATEMENT_TIMEOUT_MS = 30_000;
const ANSWER_TIMEOUT_MS = 35_000;

export function clientSettings(address: DatabaseAddress, caFile: string): pg.ClientConfig {
  const { host, port, user, password, database } = address;
  return {
    host,
    port,
    user,
    database,
    ...(password !== undefined && { password }),
    ssl: tlsSettings(address, caFile),
    application_name: 'veravox',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: ANSWER_TIMEOUT_MS,
    keepAlive: true,
    stream: () => new DatabaseSocket(),
    types: { getTypeParser: typeParser },
  };
}

/** Finds its host by our own lookup: pg has no option for that. */
export class DatabaseSocket extends net.Socket {
  /** pg gives a port and a host, or a path. */
  override connect(...[to, host]: [number | string | net.SocketConnectOpts, ...unknown[]]): this {
    if (typeof to === 'number' && typeof host === 'string')
      return super.connect({ port: to, host, lookup: lookUpOwn });
    return super.connect(to as string);
  }
}

/** By statement, because poolers in between refuse most settings at the start of a connection. */
export const sessionSettings = `SET search_path TO ${SCHEMA}; SET statement_timeout TO ${STATEMENT_TIMEOUT_MS}; SET idle_in_transaction_session_timeout TO 60000`;

function tlsSettings({ tls }: DatabaseAddress, caFile: string): ConnectionOptions | false {
  if (tls === 'disable') return false;
  // As with libpq: a named certificate is checked.
  if (tls === 'require' && caFile === '') return { rejectUnauthorized: false };
  return {
    ...(caFile !== '' && { ca: fs.readFileSync(caFile, 'utf8') }),
    ...(tls !== 'verify-full' && { checkServerIdentity: () => undefined }),
  };
}

const NUMERIC = 1700;

/** Counts as numbers, as SQLite has them. */
function typeParser(oid: number, format?: 'text' | 'binary') {
  if (oid === pg.types.builtins.INT8 || oid === NUMERIC) return toNumber;
  return pg.types.getTypeParser(oid, format);
}

function toNumber(text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) throw new RangeError(`${text} is too large.`);
  return value;
}
