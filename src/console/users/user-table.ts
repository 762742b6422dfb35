// SPDX-License-Identifier: Apache-2.0
//
// This room keeps the people who use the dashboard: users, sessions, one-time links, passwords, and limits
// on guessing them.
import { randomBytes } from 'node:crypto';
import {
  type Database,
  DatabaseError,
  type Queries,
  type Transaction,
  type Value,
} from '../../state/database/database.js';
import { changeAdmin } from './admin-changes.js';
import { endLinksOf } from './link-changes.js';
import { endSessionsOf } from './session-changes.js';
import {
  foldedName,
  type Identity,
  LastAdmin,
  type NewUser,
  type User,
  type UserChanges,
  UserExists,
} from './user.js';
import { rowOf, type UserRow, userColumns, userOf } from './user-row.js';

const selected = `SELECT ${userColumns}, revision FROM admin_users`;

/** Users in the database, including disabled ones. */
export class UserTable {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** In the order in which they were made. */
  async list(): Promise<User[]> {
    const rows = await this.#database.query<UserRow>(`${selected} ORDER BY created_at_ms, id`);
    return rows.map(userOf);
  }

  async isEmpty(): Promise<boolean> {
    return (await this.#database.query('SELECT id FROM admin_users LIMIT 1')).length === 0;
  }

  async find(id: string): Promise<User | undefined> {
    const [row] = await this.#database.query<UserRow>(`${selected} WHERE id = $1`, [id]);
    return row && userOf(row);
  }

  async named(name: string): Promise<User | undefined> {
    const [row] = await this.#database.query<UserRow>(`${selected} WHERE folded_name = $1`, [
      foldedName(name),
    ]);
    return row && userOf(row);
  }

  async identified({ issuer, subject }: Identity): Promise<User | undefined> {
    const sql = `${selected} WHERE oidc_issuer = $1 AND oidc_subject = $2`;
    const [row] = await this.#database.query<UserRow>(sql, [issuer, subject]);
    return row && userOf(row);
  }

  /**
   * @param before runs before the user exists; if it fails, there is no user
   * @throws UserExists
   */
  async create(wanted: NewUser, before = async (_user: User): Promise<void> => {}): Promise<User> {
    return refusingTwins(() =>
      changeAdmin(this.#database, async (transaction, revision) => {
        const user = await insertUser(transaction, wanted, revision);
        await before(user);
        return user;
      }),
    );
  }

  /**
   * Any change but that of the name makes the user sign in again. A new password and disabling also end the links of the user.
   * @param exceptSession a session that goes on
   * @param before runs before the change holds; if it fails, nothing has changed
   * @param mayBeLastAdmin if others decide who is an administrator
   * @param ifStill if false of the user, nothing changes
   * @returns the user as it is now, and how many sessions have ended; undefined if there is no such user
   * @throws LastAdmin, UserExists; then nothing has changed
   */
  change(
    id: string,
    changes: UserChanges,
    {
      exceptSession = '',
      before = async (): Promise<void> => {},
      mayBeLastAdmin = false,
      ifStill = (_user: User): boolean => true,
    } = {},
  ): Promise<(User & { readonly endedSessions: number }) | undefined> {
    return refusingTwins(() =>
      changeAdmin(this.#database, async (transaction, revision) => {
        const user = await findIn(transaction, id);
        if (user === undefined || !ifStill(user)) return undefined;
        const changed = applied(user, changes);
        await update(transaction, changed, revision);
        if (!mayBeLastAdmin) await refuseWithoutAdmin(transaction, user);
        const endedSessions = signsOut(user, changed)
          ? await endSessionsOf(transaction, id, revision, exceptSession)
          : 0;
        if (endsLinks(user, changed)) await endLinksOf(transaction, id);
        await before();
        return { ...changed, endedSessions };
      }),
    );
  }
}

/** With a new id. */
export async function insertUser(transaction: Transaction, wanted: NewUser, revision: number): Promise<User> {
  const user: User = { ...wanted, id: randomBytes(6).toString('hex'), createdAtMs: Date.now() };
  const values: Value[] = [...rowOf(user), revision];
  const places = values.map((_, i) => `$${i + 1}`).join(', ');
  await transaction.execute(
    `INSERT INTO admin_users (${userColumns}, folded_name, revision) VALUES (${places})`,
    values,
  );
  return user;
}

export async function findIn(queries: Queries, id: string): Promise<User | undefined> {
  const [row] = await queries.query<UserRow>(`${selected} WHERE id = $1`, [id]);
  return row && userOf(row);
}

function applied(user: User, { isDisabled, ...changes }: UserChanges): User {
  const { disabledAtMs, ...rest } = { ...user, ...changes };
  const isNow = isDisabled ?? disabledAtMs !== undefined;
  return isNow ? { ...rest, disabledAtMs: disabledAtMs ?? Date.now() } : rest;
}

const signsOut = (before: User, now: User): boolean =>
  before.role !== now.role ||
  before.account !== now.account ||
  before.password !== now.password ||
  before.disabledAtMs !== now.disabledAtMs;

const endsLinks = (before: User, now: User): boolean =>
  before.password !== now.password || now.disabledAtMs !== undefined;

async function update(transaction: Transaction, user: User, revision: number): Promise<void> {
  await transaction.execute(
    `UPDATE admin_users SET name = $2, folded_name = $3, role = $4, account = $5, password = $6, disabled_at_ms = $7,
      revision = $8 WHERE id = $1`,
    [
      ...[user.id, user.name, foldedName(user.name), user.role, user.account],
      ...[user.password ?? null, user.disabledAtMs ?? null, revision],
    ],
  );
}

async function refuseWithoutAdmin(transaction: Transaction, before: User): Promise<void> {
  if (before.role !== 'admin' || before.disabledAtMs !== undefined) return;
  const admins = await transaction.query(
    "SELECT id FROM admin_users WHERE role = 'admin' AND disabled_at_ms IS NULL LIMIT 1",
  );
  if (admins.length === 0)
    throw new LastAdmin('There must be a user with the role admin who is not disabled.');
}

/** @throws UserExists in place of the database's own error */
export async function refusingTwins<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof DatabaseError) || error.kind !== 'constraint') throw error;
    throw new UserExists('A user with this name already exists.', { cause: error });
  }
}
