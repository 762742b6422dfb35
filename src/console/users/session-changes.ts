// SPDX-License-Identifier: Apache-2.0
//
// Changes of sessions within a transaction of users and sessions. A session takes its keys with it.
import { placesFor } from '../../state/database/conditions.js';
import type { Transaction } from '../../state/database/database.js';
import { revokeKeys } from '../../state/keys/key-table.js';

/** Earlier ones of the same session end. */
const MAX_KEYS_PER_SESSION = 20;

type IdRow = { readonly id: string };
type KeyIdRow = { readonly key_id: string };

/** @returns how many there were */
export async function endSessionsOf(
  transaction: Transaction,
  userId: string,
  revision: number,
  exceptId = '',
): Promise<number> {
  const rows = await transaction.query<IdRow>(
    `UPDATE admin_sessions SET revoked_at_ms = $1, revision = $2
      WHERE user_id = $3 AND id <> $4 AND revoked_at_ms IS NULL AND ends_at_ms > $1 RETURNING id`,
    [Date.now(), revision, userId, exceptId],
  );
  await revokeKeysOf(transaction, rows);
  return rows.length;
}

/** @returns whether it had not ended yet */
export async function endSession(transaction: Transaction, id: string, revision: number): Promise<boolean> {
  const rows = await transaction.query<IdRow>(
    `UPDATE admin_sessions SET revoked_at_ms = $1, revision = $2
      WHERE id = $3 AND revoked_at_ms IS NULL RETURNING id`,
    [Date.now(), revision, id],
  );
  await revokeKeysOf(transaction, rows);
  return rows.length > 0;
}

export async function revokeOldestKeysOf(transaction: Transaction, sessionId: string): Promise<void> {
  const rows = await transaction.query<KeyIdRow>(
    `SELECT key_id FROM admin_session_keys WHERE session_id = $1
      ORDER BY created_at_ms DESC, key_id LIMIT 100 OFFSET ${MAX_KEYS_PER_SESSION}`,
    [sessionId],
  );
  await revokeAndForget(transaction, rows);
}

async function revokeKeysOf(transaction: Transaction, sessions: readonly IdRow[]): Promise<void> {
  if (sessions.length === 0) return;
  const rows = await transaction.query<KeyIdRow>(
    `SELECT key_id FROM admin_session_keys WHERE session_id IN (${placesFor(sessions)})`,
    sessions.map(({ id }) => id),
  );
  await revokeAndForget(transaction, rows);
}

async function revokeAndForget(transaction: Transaction, rows: readonly KeyIdRow[]): Promise<void> {
  if (rows.length === 0) return;
  const ids = rows.map(({ key_id: id }) => id);
  await revokeKeys(transaction, ids);
  await transaction.execute(`DELETE FROM admin_session_keys WHERE key_id IN (${placesFor(ids)})`, ids);
}
