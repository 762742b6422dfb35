// SPDX-License-Identifier: Apache-2.0
import { DatabaseError, type FailureKind } from './database.js';

// https://www.postgresql.org/docs/current/errcodes-appendix.html
const kinds: readonly [codes: RegExp, kind: FailureKind][] = [
  // Connections, too many of them, a server that starts or stops, or only reads after another took its place.
  [/^(?:08...|53300|57P0.|25006|57014)$/, 'unavailable'],
  [/^(?:40001|40P01|55P03)$/, 'busy'],
  [/^23...$/, 'constraint'],
  [/^53100$/, 'full'],
  [/^XX00[12]$/, 'damaged'],
];

/** @param name the database, for people */
export function postgresFailure(name: string, error: unknown): unknown {
  if (error instanceof DatabaseError) return error;
  const { code = '', message } = error as NodeJS.ErrnoException;
  const isAnswer = /^[0-9A-Z]{5}$/.test(code) && 'severity' in (error as object);
  // An error that is not the server's own comes from the way to it.
  const kind = isAnswer ? (kinds.find(([codes]) => codes.test(code))?.[1] ?? 'faulty') : 'unavailable';
  const reason = message || (error instanceof AggregateError ? String(error.errors[0]) : String(error));
  return new DatabaseError(
    kind,
    code || 'CONNECTION',
    `The database ${name}: ${reason}${hint(reason)}`,
    error,
  );
}

const hint = (reason: string): string =>
  reason.includes('does not support SSL connections')
    ? '. To connect without encryption, add ?sslmode=disable to VERAVOX_DATABASE_URL.'
    : '';
