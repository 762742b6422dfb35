// SPDX-License-Identifier: Apache-2.0
import { scopes as allScopes, type Scope } from '../../base/contract/scopes.js';
import type { AuditEvent } from '../records/audit-chain.js';
import type { CreatedKey, NewKey, RateLimit, StoredKey } from './api-key.js';
import { checkKey } from './key-check.js';
import type { KeyTable } from './key-table.js';

/** Writes an act into the audit; if it cannot, the act is not done. */
export type Note = (event: AuditEvent) => Promise<void>;

/** Changes to a key; absent fields stay, and null takes a limit or the expiry away. */
export interface KeyChange {
  readonly name?: string | undefined;
  readonly scopes?: NewKey['scopes'] | undefined;
  readonly rate?: RateLimit | null | undefined;
  readonly concurrency?: number | null | undefined;
  readonly expiresAt?: Date | null | undefined;
}

/** A revoked key never changes. */
export class KeyIsRevoked extends Error {
  override readonly name = 'KeyIsRevoked';
}

/** Makes, changes and revokes keys, by the same rules and with the same notes for every caller. */
export class KeyRules {
  readonly #keyTable: KeyTable;
  readonly #note: Note;

  constructor(keyTable: KeyTable, note: Note) {
    this.#keyTable = keyTable;
    this.#note = note;
  }

  /** @throws KeyRefused, DatabaseError, or the audit's errors */
  create(wanted: NewKey): Promise<CreatedKey> {
    checkKey(wanted);
    const key = { ...wanted, scopes: inOrder(wanted.scopes) };
    return this.#keyTable.create(key, ({ key: { id: keyId, account } }) =>
      this.#note({ event: 'key_created', keyId, account, scopes: key.scopes }),
    );
  }

  /**
   * @returns undefined if there is no such key
   * @throws KeyRefused, KeyIsRevoked, DatabaseError, or the audit's errors
   */
  change(id: string, change: KeyChange): Promise<StoredKey | undefined> {
    return this.#keyTable.change(
      id,
      (key) => changed(key, change),
      ({ account, name, scopes, rate = null, concurrency = null, expiresAt = null }) =>
        this.#note({
          event: 'key_changed',
          keyId: id,
          account,
          // The changed fields, with their new values.
          ...ofChange(change, { name, scopes, rate, concurrency, expiresAt }),
        }),
    );
  }

  /** @returns false if there is no such key; revoking twice keeps the first time */
  revoke(id: string): Promise<boolean> {
    return this.#keyTable.revoke(id, new Date(), () => this.#note({ event: 'key_revoked', keyId: id }));
  }
}

function changed(key: StoredKey, change: KeyChange): StoredKey {
  if (key.revokedAt !== undefined) throw new KeyIsRevoked(`The key ${key.id} is revoked.`);
  const { name, scopes } = change;
  // Unchanged fields may be older than their rules, or over.
  checkKey({
    name,
    scopes,
    rate: change.rate ?? undefined,
    concurrency: change.concurrency ?? undefined,
    expiresAt: change.expiresAt ?? undefined,
  });
  const rate = replaced(key.rate, change.rate);
  const concurrency = replaced(key.concurrency, change.concurrency);
  const expiresAt = replaced(key.expiresAt, change.expiresAt);
  const { id, account, secretSha256, createdAt } = key;
  return {
    ...{
      id,
      account,
      secretSha256,
      createdAt,
      name: name ?? key.name,
      scopes: scopes ? inOrder(scopes) : key.scopes,
    },
    ...(rate && { rate }),
    ...(concurrency !== undefined && { concurrency }),
    ...(expiresAt && { expiresAt }),
    ...(key.endsWithSession && { endsWithSession: true }),
  };
}

/** Each once. */
const inOrder = (wanted: readonly Scope[]): Scope[] => allScopes.filter((scope) => wanted.includes(scope));

const replaced = <Value>(old: Value | undefined, next: Value | null | undefined): Value | undefined =>
  next === undefined ? old : (next ?? undefined);

const ofChange = (change: KeyChange, now: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.keys(change).map((name) => [name, now[name]]));
