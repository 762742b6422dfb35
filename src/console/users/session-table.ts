// SPDX-License-Identifier: Apache-2.0
import type { Database, Transaction } from '../../state/database/database.js';
import { ADMIN_TOPIC, changeAdmin } from './admin-changes.js';
import { digestOf, newToken, publicIdOf } from './secret-token.js';
import {
  type Device,
  IDLE_MS,
  LIFETIME_MS,
  type NewSession,
  type Session,
  type SessionRow,
  sessionOf,
} from './session.js';
import { endSession, endSessionsOf } from './session-changes.js';
import type { User } from './user.js';
import { type UserRow, userColumns, userOf } from './user-row.js';

/** The changes so far, and their last revision. */
export interface AdminChanges {
  readonly revision: number;
  readonly users: readonly User[];
  readonly sessions: readonly (Session & { readonly isRevoked: boolean })[];
}

/** A session as its user sees it. */
export interface ListedSession extends Session, Device {
  readonly createdAtMs: number;
}

type ListedRow = SessionRow & {
  readonly created_at_ms: number;
  readonly client_address: string | null;
  readonly user_agent: string | null;
};

/** Earlier ones of the same user end. */
const MAX_SESSIONS_PER_USER = 20;
const KEPT_MS = 86_400_000;
const TIMEOUT_MS = 1000;

const columns = 'id, user_id, used_at_ms, ends_at_ms, revoked_at_ms, revision';

/** Sessions in the database, with their users. */
export class SessionTable {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * @param user after proof of identity
   * @param endedId of a session that the same browser had before
   * @returns undefined if the user has been disabled, or has got another password, since
   */
  create(user: User, endedId: string | undefined, device: Device = {}): Promise<NewSession | undefined> {
    return changeAdmin(this.#database, async (transaction, revision) => {
      const current = await transaction.query<{ password: string | null }>(
        'SELECT password FROM admin_users WHERE id = $1 AND disabled_at_ms IS NULL',
        [user.id],
      );
      if (current[0] === undefined || current[0].password !== (user.password ?? null)) return undefined;
      if (endedId !== undefined) await endSession(transaction, endedId, revision);
      return insertSession(transaction, user, revision, device);
    });
  }

  /** @returns whether it had not ended yet */
  end(id: string): Promise<boolean> {
    return changeAdmin(this.#database, (transaction, revision) => endSession(transaction, id, revision));
  }

  /** The user's live sessions, the last used first. */
  async list(userId: string): Promise<ListedSession[]> {
    const nowMs = Date.now();
    const rows = await this.#database.query<ListedRow>(
      `SELECT ${columns}, created_at_ms, client_address, user_agent FROM admin_sessions
        WHERE user_id = $1 AND revoked_at_ms IS NULL AND ends_at_ms > $2 AND used_at_ms > $3
        ORDER BY used_at_ms DESC, id`,
      [userId, nowMs, nowMs - IDLE_MS],
    );
    return rows.map((row) => ({
      ...sessionOf(row),
      createdAtMs: row.created_at_ms,
      clientAddress: row.client_address ?? undefined,
      userAgent: row.user_agent ?? undefined,
    }));
  }

  /**
   * @param before runs before it ends; if it fails, it goes on
   * @returns false if the user has no such session
   */
  endOneOf(userId: string, publicId: string, before: () => Promise<void>): Promise<boolean> {
    return changeAdmin(this.#database, async (transaction, revision) => {
      const rows = await transaction.query<{ id: string }>(
        'SELECT id FROM admin_sessions WHERE user_id = $1 AND revoked_at_ms IS NULL AND ends_at_ms > $2',
        [userId, Date.now()],
      );
      const found = rows.find(({ id }) => publicIdOf(id) === publicId);
      if (found === undefined) return false;
      await endSession(transaction, found.id, revision);
      await before();
      return true;
    });
  }

  /**
   * @param exceptId a session that goes on
   * @returns how many there were
   */
  endAllOf(userId: string, before = async (): Promise<void> => {}, exceptId = ''): Promise<number> {
    return changeAdmin(this.#database, async (transaction, revision) => {
      const ended = await endSessionsOf(transaction, userId, revision, exceptId);
      await before();
      return ended;
    });
  }

  /** Notes that it is in use. Other hosts are not told: they look when it seems to be idle. */
  async touch(id: string, nowMs: number): Promise<void> {
    await this.#database.execute(
      'UPDATE admin_sessions SET used_at_ms = $1 WHERE id = $2 AND used_at_ms < $1',
      [nowMs, id],
    );
  }

  async find(id: string): Promise<Session | undefined> {
    const sql = `SELECT ${columns} FROM admin_sessions WHERE id = $1 AND revoked_at_ms IS NULL`;
    const [row] = await this.#database.query<SessionRow>(sql, [id]);
    return row && sessionOf(row);
  }

  /**
   * Users and sessions that have changed after this revision.
   * @param revision -1 for all users, and all sessions that have not ended
   * @throws DatabaseError
   */
  async changedSince(revision: number): Promise<AdminChanges> {
    const [row] = await this.#query<{ revision: number }>('SELECT revision FROM revisions WHERE topic = $1', [
      ADMIN_TOPIC,
    ]);
    const newest = row?.revision ?? 0;
    if (newest <= revision) return { revision, users: [], sessions: [] };
    const users = await this.#query<UserRow>(
      `SELECT ${userColumns}, revision FROM admin_users WHERE revision > $1`,
      [revision],
    );
    const live = revision < 0 ? 'AND revoked_at_ms IS NULL' : '';
    const sessions = await this.#query<SessionRow>(
      `SELECT ${columns} FROM admin_sessions WHERE revision > $1 ${live}`,
      [revision],
    );
    // Changes committed since the first statement have later revisions, and are seen again.
    return {
      revision: newest,
      users: users.map(userOf),
      sessions: sessions.map((one) => ({ ...sessionOf(one), isRevoked: one.revoked_at_ms !== null })),
    };
  }

  follow(onChange: () => void): () => void {
    return this.#database.follow(ADMIN_TOPIC, onChange);
  }

  #query<Answer extends Record<string, string | number | null>>(
    sql: string,
    parameters: readonly (string | number)[],
  ): Promise<Answer[]> {
    return this.#database.queryPromptly<Answer>(sql, parameters, TIMEOUT_MS);
  }
}

export async function insertSession(
  transaction: Transaction,
  user: User,
  revision: number,
  { clientAddress, userAgent }: Device,
): Promise<NewSession> {
  const nowMs = Date.now();
  const token = newToken();
  const session = { id: digestOf(token), userId: user.id, usedAtMs: nowMs, endsAtMs: nowMs + LIFETIME_MS };
  await transaction.execute('DELETE FROM admin_sessions WHERE ends_at_ms < $1', [nowMs - KEPT_MS]);
  await transaction.execute(
    `INSERT INTO admin_sessions
      (id, user_id, created_at_ms, used_at_ms, ends_at_ms, revision, client_address, user_agent)
      VALUES ($1, $2, $3, $3, $4, $5, $6, $7)`,
    [session.id, user.id, nowMs, session.endsAtMs, revision, clientAddress ?? null, userAgent ?? null],
  );
  const surplus = await transaction.query<{ id: string }>(
    `SELECT id FROM admin_sessions WHERE user_id = $1 AND revoked_at_ms IS NULL
      ORDER BY created_at_ms DESC, id LIMIT 100 OFFSET ${MAX_SESSIONS_PER_USER}`,
    [user.id],
  );
  for (const { id } of surplus) await endSession(transaction, id, revision);
  return { session, user, token };
}
