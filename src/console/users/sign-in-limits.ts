// SPDX-License-Identifier: Apache-2.0
import { hash } from 'node:crypto';
import { FixedWindows } from '../../base/fixed-windows.js';
import type { Database, Transaction } from '../../state/database/database.js';
import { foldedName } from './user.js';

/** Attempts without a pause; each further one doubles the pause. */
const FREE_ATTEMPTS = { user: 5, address: 20 } as const;
const FIRST_PAUSE_MS = 1000;
const MAX_PAUSE_MS = 15 * 60_000;
/** After the last attempt. */
const FORGOTTEN_MS = 60 * 60_000;

/** Attempts that get as far as the database, per minute and process. */
const MAX_PER_ADDRESS = 30;
const MAX_IN_ALL = 240;
const MINUTE_MS = 60_000;

/** A credential's kind. */
type SignInWay = 'password' | 'link' | 'provider';

type Kind = keyof typeof FREE_ATTEMPTS;

interface Subject {
  readonly kind: Kind;
  readonly key: string;
}

type AttemptRow = { readonly attempts: number; readonly last_at_ms: number; readonly free_at_ms: number };

/**
 * Slows down guessers of passwords: per name, whether there is such a user or not, and per address. The counts are in the
 * database, so they hold over all hosts.
 */
export class SignInLimits {
  readonly #database: Database;
  readonly #nowMs: () => number;
  readonly #ofAddress = new FixedWindows(MAX_PER_ADDRESS, MINUTE_MS);
  readonly #all = new FixedWindows(MAX_IN_ALL, MINUTE_MS);

  constructor(database: Database, nowMs: () => number = Date.now) {
    this.#database = database;
    this.#nowMs = nowMs;
  }

  /**
   * Call it before a password is checked.
   * @returns 0 if it may be, and counts the attempt; otherwise for how many milliseconds it may not
   */
  async begin(name: string, address: string): Promise<number> {
    const shieldedMs = this.shield(address, 'password');
    if (shieldedMs > 0) return shieldedMs;
    const nowMs = this.#nowMs();
    return this.#database.transaction(
      async (transaction) => {
        const subjects = subjectsOf(name, address);
        const rows: (AttemptRow | undefined)[] = [];
        for (const { key } of subjects) rows.push(await attemptsOf(transaction, key, nowMs));
        const freeAtMs = Math.max(...rows.map((row) => row?.free_at_ms ?? 0));
        if (freeAtMs > nowMs) return Math.min(freeAtMs - nowMs, MAX_PAUSE_MS);
        await transaction.execute('DELETE FROM sign_in_attempts WHERE last_at_ms < $1', [
          nowMs - FORGOTTEN_MS,
        ]);
        for (const [i, { key, kind }] of subjects.entries()) {
          await count(transaction, key, (rows[i]?.attempts ?? 0) + 1, kind, nowMs);
        }
        return 0;
      },
      { lock: 'sign-in' },
    );
  }

  /** The part in memory, which strangers cannot fill the database past. @returns as `begin` */
  shield(address: string, way: SignInWay): number {
    // In this order: one address alone does not use up what is for all.
    const own = this.#ofAddress.count(address);
    if (own.isExceeded) return own.leftMs;
    // Nobody guesses a link, so that strangers with many addresses keep nobody from one.
    if (way === 'link') return 0;
    const all = this.#all.count(way);
    return all.isExceeded ? all.leftMs : 0;
  }

  /** The attempt that has begun was no guess. */
  async succeeded(name: string, address: string): Promise<void> {
    for (const { key, kind } of subjectsOf(name, address)) {
      await this.#database.execute(
        kind === 'user'
          ? 'DELETE FROM sign_in_attempts WHERE subject = $1'
          : 'UPDATE sign_in_attempts SET attempts = attempts - 1, free_at_ms = 0 WHERE subject = $1 AND attempts > 0',
        [key],
      );
    }
  }
}

/** Names are hashed: people type passwords there by mistake. */
const subjectsOf = (name: string, address: string): Subject[] => [
  { kind: 'user', key: `user ${hash('sha256', foldedName(name), 'hex')}` },
  { kind: 'address', key: `address ${address}` },
];

async function attemptsOf(
  transaction: Transaction,
  key: string,
  nowMs: number,
): Promise<AttemptRow | undefined> {
  const [row] = await transaction.query<AttemptRow>(
    'SELECT attempts, last_at_ms, free_at_ms FROM sign_in_attempts WHERE subject = $1',
    [key],
  );
  // A clock that jumped back must not lock anybody out.
  const isRecent = row !== undefined && Math.abs(nowMs - row.last_at_ms) < FORGOTTEN_MS;
  return isRecent ? row : undefined;
}

async function count(
  transaction: Transaction,
  key: string,
  attempts: number,
  kind: Kind,
  nowMs: number,
): Promise<void> {
  const beyond = attempts - FREE_ATTEMPTS[kind];
  const pauseMs = beyond < 0 ? 0 : Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(beyond, 20));
  await transaction.execute(
    `INSERT INTO sign_in_attempts (subject, attempts, last_at_ms, free_at_ms) VALUES ($1, $2, $3, $4)
      ON CONFLICT (subject) DO UPDATE SET attempts = excluded.attempts, last_at_ms = excluded.last_at_ms,
        free_at_ms = excluded.free_at_ms`,
    [key, attempts, nowMs, nowMs + pauseMs],
  );
}
