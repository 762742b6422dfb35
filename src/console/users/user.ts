// SPDX-License-Identifier: Apache-2.0
import { withoutJoiners } from '../../base/contract/names.js';
import type { Role } from '../../base/contract/roles.js';

/** A person who may sign in to the dashboard. */
export interface User {
  readonly id: string;
  /** Unique, whatever the case of its letters. */
  readonly name: string;
  readonly role: Role;
  /** The account of their keys and jobs, unless their role is admin. */
  readonly account: string;
  /** As `Passwords` stores it; undefined for users who sign in elsewhere, or not yet. */
  readonly password?: string;
  /** Their identity at an OpenID provider. */
  readonly identity?: Identity;
  readonly createdAtMs: number;
  readonly disabledAtMs?: number;
}

export interface Identity {
  readonly issuer: string;
  readonly subject: string;
}

export type NewUser = Pick<User, 'name' | 'role' | 'account' | 'password' | 'identity'>;

/** The changeable parts of a user; absent ones stay as they are. */
export interface UserChanges {
  readonly name?: string;
  readonly role?: Role;
  readonly account?: string;
  readonly password?: string;
  readonly isDisabled?: boolean;
}

/** The id, the name or the identity is taken. */
export class UserExists extends Error {
  override readonly name = 'UserExists';
}

/** Nobody could manage users after this. */
export class LastAdmin extends Error {
  override readonly name = 'LastAdmin';
}

/** Names that look alike to people are alike. */
export const foldedName = (name: string): string => withoutJoiners(name).normalize('NFKC').toLowerCase();
