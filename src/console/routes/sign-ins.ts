// SPDX-License-Identifier: Apache-2.0
import { addressBlock } from '../../api/admission/address-block.js';
import type { Role } from '../../base/contract/roles.js';
import { ServiceError } from '../../base/errors/service-error.js';
import type { Database } from '../../state/database/database.js';
import { DEFAULT_ACCOUNT } from '../../state/keys/api-key.js';
import type { AuditEvent } from '../../state/records/audit-chain.js';
import { FIRST_ROLE, LinkTable } from '../users/link-table.js';
import type { PasswordQueue, Passwords } from '../users/passwords.js';
import { digestOf } from '../users/secret-token.js';
import type { Device, NewSession } from '../users/session.js';
import { SessionTable } from '../users/session-table.js';
import { SignInLimits } from '../users/sign-in-limits.js';
import { type User, UserExists } from '../users/user.js';
import { UserTable } from '../users/user-table.js';
import type { Person } from './oidc-person.js';

export interface SignInParts {
  readonly database: Database;
  readonly passwords: Passwords;
  note(event: AuditEvent): void;
  /** For changes: rejects if the line cannot be written, and then nothing has changed. */
  noteFirst(event: AuditEvent): Promise<void>;
}

/** The place that a person signs in from. */
export interface Visitor extends Device {
  readonly clientAddress: string;
  /** The id of the session that their browser has already; it ends. */
  readonly earlierId: string | undefined;
}

/** Lets people in, and slows down guessers. */
export class SignIns {
  readonly #parts: SignInParts;
  readonly #users: UserTable;
  readonly #sessions: SessionTable;
  readonly #links: LinkTable;
  readonly #limits: SignInLimits;

  constructor(parts: SignInParts) {
    this.#parts = parts;
    this.#users = new UserTable(parts.database);
    this.#sessions = new SessionTable(parts.database);
    this.#links = new LinkTable(parts.database);
    this.#limits = new SignInLimits(parts.database);
  }

  /** @throws ServiceError SIGN_IN_REFUSED, SIGN_IN_LIMITED, OVERLOADED */
  async withPassword(name: string, password: string, visitor: Visitor): Promise<NewSession> {
    const user = await this.#checked(name, password, visitor, 'strangers');
    return this.begin(user, visitor, 'password');
  }

  /**
   * Does the same whether there is such a user or not, and takes as long.
   * @throws ServiceError SIGN_IN_REFUSED, SIGN_IN_LIMITED, OVERLOADED
   */
  async #checked(
    name: string,
    password: string,
    { clientAddress }: Visitor,
    queue: PasswordQueue,
  ): Promise<User> {
    const block = addressBlock(clientAddress);
    refuseForNow(await this.#limits.begin(name, block));
    const user = await this.#users.named(name);
    const isActive = user !== undefined && user.disabledAtMs === undefined;
    const stored = isActive ? user.password : undefined;
    const isRight = await this.#parts.passwords.verify(password, stored, queue);
    if (!isRight || user === undefined) {
      // Without the name: people type passwords there by mistake.
      this.#parts.note({ event: 'sign_in_refused', userId: user?.id ?? null, clientAddress });
      throw new ServiceError('SIGN_IN_REFUSED');
    }
    await this.#limits.succeeded(name, block);
    return user;
  }

  /** For a person who has proved who they are. @throws ServiceError SIGN_IN_REFUSED */
  async begin(user: User, visitor: Visitor, way: string): Promise<NewSession> {
    const { clientAddress, earlierId } = visitor;
    const begun = await this.#sessions.create(user, earlierId, visitor);
    if (begun === undefined) throw new ServiceError('SIGN_IN_REFUSED');
    this.#parts.note({ event: 'signed_in', userId: user.id, way, clientAddress });
    return begun;
  }

  /** @throws ServiceError SIGN_IN_LIMITED */
  refuseFloods(clientAddress: string): void {
    refuseForNow(this.#limits.shield(addressBlock(clientAddress), 'provider'));
  }

  /**
   * For a person whom their provider knows; the first time makes a user of them. They have the role that the provider gives
   * them now, and without one their sessions end.
   * @throws ServiceError OIDC_ROLE_MISSING, SIGN_IN_REFUSED
   */
  async withProvider(person: Person, visitor: Visitor): Promise<NewSession> {
    const { identity, role } = person;
    const known = await this.#users.identified(identity);
    if (role === undefined || known?.disabledAtMs !== undefined) {
      if (known !== undefined) await this.#signOut(known);
      const { clientAddress } = visitor;
      this.#parts.note({ event: 'sign_in_refused', userId: known?.id ?? null, clientAddress });
      throw new ServiceError('OIDC_ROLE_MISSING');
    }
    const user = known === undefined ? await this.#make(person, role) : await this.#withRole(known, role);
    return this.begin(user, visitor, 'oidc');
  }

  async #make({ identity, name }: Person, role: Role): Promise<User> {
    const make = (ownName: string): Promise<User> =>
      this.#users.create(
        { name: ownName, role, account: DEFAULT_ACCOUNT, identity },
        ({ id: userId, account }) =>
          this.#parts.noteFirst({ event: 'user_created', userId, role, account, by: 'oidc' }),
      );
    const { issuer, subject } = identity;
    return make(name).catch(async (error: unknown) => {
      if (!(error instanceof UserExists)) throw error;
      // Another person has the name, or the same one has come twice at once.
      const same = await this.#users.identified(identity);
      return same ?? make(`${name} (${digestOf(`${issuer} ${subject}`).slice(0, 8)})`);
    });
  }

  async #withRole(user: User, role: Role): Promise<User> {
    if (user.role === role) return user;
    const act = { event: 'user_changed', userId: user.id, role, by: 'oidc' };
    const before = () => this.#parts.noteFirst(act);
    const changed = await this.#users.change(user.id, { role }, { mayBeLastAdmin: true, before });
    if (changed === undefined) throw new ServiceError('SIGN_IN_REFUSED');
    return changed;
  }

  /** Of a user who is disabled or has no role left. The audit line comes last, so that a failure to write it lets nobody stay. */
  async #signOut({ id: userId }: User): Promise<void> {
    const sessions = await this.#sessions.endAllOf(userId);
    if (sessions > 0) this.#parts.note({ event: 'sessions_revoked', userId, by: 'oidc' });
  }

  /** Refuses before the password is hashed, which takes long. @throws ServiceError LINK_REFUSED, SIGN_IN_LIMITED */
  async checkLink(token: string, { clientAddress }: Visitor): Promise<void> {
    refuseForNow(this.#limits.shield(addressBlock(clientAddress), 'link'));
    if (!(await this.#links.isValid(token))) throw new ServiceError('LINK_REFUSED');
  }

  /** @throws ServiceError LINK_REFUSED, USER_EXISTS, OVERLOADED */
  async withLink(
    token: string,
    password: string,
    name: string | undefined,
    visitor: Visitor,
  ): Promise<NewSession> {
    const { clientAddress, earlierId } = visitor;
    const stored = await this.#parts.passwords.hash(password);
    const by = 'link';
    const begun = await this.#links.redeem(token, stored, {
      name,
      endedId: earlierId,
      device: visitor,
      before: async ({ userId, isFirst }) => {
        const [role, account] = [FIRST_ROLE, DEFAULT_ACCOUNT];
        if (isFirst) await this.#parts.noteFirst({ event: 'user_created', userId, role, account, by });
        await this.#parts.noteFirst({ event: 'password_set', userId, by, clientAddress });
      },
    });
    if (begun === undefined) throw new ServiceError('LINK_REFUSED');
    const { userId } = begun.session;
    this.#parts.note({ event: 'signed_in', userId, way: by, clientAddress });
    return begun;
  }

  /**
   * Other sessions of the user end.
   * @returns how many
   * @throws ServiceError SIGN_IN_REFUSED, SIGN_IN_LIMITED, OVERLOADED
   */
  async changePassword(
    user: User,
    sessionId: string,
    given: { readonly password: string; readonly newPassword: string },
    visitor: Visitor,
  ): Promise<number> {
    const checked = await this.#checked(user.name, given.password, visitor, 'known');
    const password = await this.#parts.passwords.hash(given.newPassword);
    const changed = await this.#users.change(
      user.id,
      { password },
      {
        exceptSession: sessionId,
        // A link may have set another one since, against a holder of the old one.
        ifStill: (now) => now.password === checked.password && now.disabledAtMs === undefined,
        before: () =>
          this.#parts.noteFirst({ event: 'password_set', userId: user.id, by: `user ${user.id}` }),
      },
    );
    if (changed === undefined) throw new ServiceError('SIGN_IN_REFUSED');
    return changed.endedSessions;
  }
}

function refuseForNow(waitMs: number): void {
  if (waitMs > 0) throw new ServiceError('SIGN_IN_LIMITED', { retryAfterS: Math.ceil(waitMs / 1000) });
}
