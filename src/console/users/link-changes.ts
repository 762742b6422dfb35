// SPDX-License-Identifier: Apache-2.0
//
// Changes of links within a transaction of users and sessions.
import type { Transaction } from '../../state/database/database.js';
import { digestOf, newToken } from './secret-token.js';

/** Lifetime of a link. */
export const LINK_LIFETIME_MS = 3_600_000;

/**
 * Earlier links of the user end.
 * @param userId null for the link that makes the first user
 * @returns its token
 */
export async function insertLink(transaction: Transaction, userId: string | null): Promise<string> {
  const token = newToken();
  const nowMs = Date.now();
  await transaction.execute('DELETE FROM admin_links WHERE ends_at_ms < $1', [nowMs]);
  await endLinksOf(transaction, userId);
  await transaction.execute(
    'INSERT INTO admin_links (token_sha256, user_id, ends_at_ms) VALUES ($1, $2, $3)',
    [digestOf(token), userId, nowMs + LINK_LIFETIME_MS],
  );
  return token;
}

/** @param userId null for the link that makes the first user */
export async function endLinksOf(transaction: Transaction, userId: string | null): Promise<void> {
  if (userId === null) await transaction.execute('DELETE FROM admin_links WHERE user_id IS NULL');
  else await transaction.execute('DELETE FROM admin_links WHERE user_id = $1', [userId]);
}
