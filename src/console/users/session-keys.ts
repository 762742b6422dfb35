// SPDX-License-Identifier: Apache-2.0
import type { Database } from '../../state/database/database.js';
import type { StoredKey } from '../../state/keys/api-key.js';
import { addKey, type KeptSessionKeys, removeSessionKeys } from '../../state/keys/key-table.js';
import { changeAdmin } from './admin-changes.js';
import { revokeOldestKeysOf } from './session-changes.js';

const KEPT: KeptSessionKeys = { maxAgeMs: 86_400_000, max: 1000 };
/** With each new one; many more than are made meanwhile, and few enough for a quick change. */
const MAX_REMOVED = 100;

/** API keys that end with a session. Keys of ended ones are removed with the next one. */
export class SessionKeys {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * Stores a key of the session. Earlier ones continue, because each open page has its own, but the oldest of too many end.
   * @param before runs before the key is valid; if it fails, nothing has changed
   * @returns the ids of keys that were removed; undefined if the session has ended
   */
  add(
    sessionId: string,
    key: StoredKey,
    before: () => Promise<void>,
  ): Promise<readonly string[] | undefined> {
    return changeAdmin(this.#database, async (transaction) => {
      const nowMs = Date.now();
      const [session] = await transaction.query(
        `SELECT s.id FROM admin_sessions AS s JOIN admin_users AS u ON u.id = s.user_id
          WHERE s.id = $1 AND s.revoked_at_ms IS NULL AND s.ends_at_ms > $2 AND u.disabled_at_ms IS NULL`,
        [sessionId, nowMs],
      );
      if (session === undefined) return undefined;
      await addKey(transaction, key);
      await transaction.execute(
        'INSERT INTO admin_session_keys (key_id, session_id, created_at_ms) VALUES ($1, $2, $3)',
        [key.id, sessionId, nowMs],
      );
      await revokeOldestKeysOf(transaction, sessionId);
      const removed = await removeSessionKeys(transaction, key.account, KEPT, MAX_REMOVED);
      await before();
      return removed;
    });
  }
}
