// SPDX-License-Identifier: Apache-2.0
import type { Role } from '../../base/contract/roles.js';
import type { SignedIn } from '../users/session-cache.js';

/** The sender of a request: a signed-in user, or a program with a key of the scope `admin`. */
export interface Principal {
  readonly kind: 'user' | 'key';
  /** Named in the audit log. */
  readonly id: string;
  /** A user's; a key's id. */
  readonly name: string;
  readonly role: Role;
  /** Their only account; undefined for all accounts. */
  readonly account: string | undefined;
  /** Of a user. */
  readonly signedIn?: SignedIn;
}

/** For audit lines: the actor. */
export const actedBy = ({ kind, id }: Principal): { readonly by: string } => ({ by: `${kind} ${id}` });

export function principalOf(signedIn: SignedIn): Principal {
  const { id, name, role, account } = signedIn.user;
  return { kind: 'user', id, name, role, account: role === 'admin' ? undefined : account, signedIn };
}
