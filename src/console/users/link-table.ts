// SPDX-License-Identifier: Apache-2.0
import type { Database, Transaction } from '../../state/database/database.js';
import { DEFAULT_ACCOUNT } from '../../state/keys/api-key.js';
import { changeAdmin } from './admin-changes.js';
import { endLinksOf, insertLink } from './link-changes.js';
import { digestOf } from './secret-token.js';
import type { Device, NewSession } from './session.js';
import { endSession, endSessionsOf } from './session-changes.js';
import { insertSession } from './session-table.js';
import type { NewUser, User } from './user.js';
import { findIn, insertUser, refusingTwins } from './user-table.js';

/** The dashboard's path for setting a password. The token is behind the #, which browsers send to nobody. @param userName undefined for the first user */
export const linkPath = (token: string, userName?: string): string =>
  `/dashboard/#/welcome?token=${token}${userName === undefined ? '' : `&name=${encodeURIComponent(userName)}`}`;

export interface RedeemOptions {
  /** Of the first user. */
  readonly name?: string | undefined;
  /** Of an earlier session of the same browser, as another user. */
  readonly endedId?: string | undefined;
  readonly device?: Device;
  /** Runs before the password is valid; if it fails, nothing has changed. */
  readonly before?: (user: { readonly userId: string; readonly isFirst: boolean }) => Promise<void>;
}

const FIRST_NAME = 'admin';
export const FIRST_ROLE = 'admin';

/** A user who has yet to choose a password, and the token of their link. */
export interface Invitation {
  readonly user: User;
  readonly token: string;
}

/** Links for setting a password and signing in, once. A newer one for the same user ends the earlier ones. */
export class LinkTable {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** For the person who sets the server up, while there is no user. @returns its token; undefined if there is a user */
  createFirst(): Promise<string | undefined> {
    return changeAdmin(this.#database, async (transaction) => {
      const users = await transaction.query('SELECT id FROM admin_users LIMIT 1');
      return users.length > 0 ? undefined : insertLink(transaction, null);
    });
  }

  /**
   * Makes a user with a link, both or neither.
   * @param before runs before the user exists; if it fails, there is no user
   * @throws UserExists
   */
  invite(wanted: NewUser, before = async (_user: User): Promise<void> => {}): Promise<Invitation> {
    return refusingTwins(() =>
      changeAdmin(this.#database, async (transaction, revision) => {
        const user = await insertUser(transaction, wanted, revision);
        const token = await insertLink(transaction, user.id);
        await before(user);
        return { user, token };
      }),
    );
  }

  /** @param before runs before the link works; if it fails, there is no link, and earlier ones still work */
  createFor(userId: string, before = async (): Promise<void> => {}): Promise<string> {
    return changeAdmin(this.#database, async (transaction) => {
      const token = await insertLink(transaction, userId);
      await before();
      return token;
    });
  }

  /** Whether it could be used now. */
  async isValid(token: string): Promise<boolean> {
    const sql = 'SELECT token_sha256 FROM admin_links WHERE token_sha256 = $1 AND ends_at_ms > $2';
    return (await this.#database.query(sql, [digestOf(token), Date.now()])).length > 0;
  }

  /**
   * Gives the user of the link a password, and signs them in; the first user is made. Earlier sessions of the user end.
   * @param password as `Passwords` stores it
   * @returns undefined if the link no longer works
   */
  redeem(
    token: string,
    password: string,
    { name = FIRST_NAME, endedId, device = {}, before = async () => {} }: RedeemOptions = {},
  ): Promise<NewSession | undefined> {
    return changeAdmin(this.#database, async (transaction, revision) => {
      const [link] = await transaction.query<{ user_id: string | null }>(
        'DELETE FROM admin_links WHERE token_sha256 = $1 AND ends_at_ms > $2 RETURNING user_id',
        [digestOf(token), Date.now()],
      );
      if (link === undefined) return undefined;
      const user =
        link.user_id === null
          ? await makeFirst(transaction, revision, name, password)
          : await giveNew(transaction, revision, link.user_id, password);
      if (user === undefined) return undefined;
      await before({ userId: user.id, isFirst: link.user_id === null });
      if (endedId !== undefined) await endSession(transaction, endedId, revision);
      return insertSession(transaction, user, revision, device);
    });
  }
}

async function makeFirst(
  transaction: Transaction,
  revision: number,
  name: string,
  password: string,
): Promise<User | undefined> {
  if ((await transaction.query('SELECT id FROM admin_users LIMIT 1')).length > 0) return undefined;
  const first = { name, role: FIRST_ROLE, account: DEFAULT_ACCOUNT, password } as const;
  return insertUser(transaction, first, revision);
}

async function giveNew(
  transaction: Transaction,
  revision: number,
  userId: string,
  password: string,
): Promise<User | undefined> {
  const changed = await transaction.execute(
    'UPDATE admin_users SET password = $1, revision = $2 WHERE id = $3 AND disabled_at_ms IS NULL',
    [password, revision, userId],
  );
  if (changed === 0) return undefined;
  await endSessionsOf(transaction, userId, revision);
  await endLinksOf(transaction, userId);
  return findIn(transaction, userId);
}
