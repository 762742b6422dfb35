// SPDX-License-Identifier: Apache-2.0
import type { Database, Transaction } from '../../state/database/database.js';

/** Announced with every change of users and sessions. */
export const ADMIN_TOPIC = 'admin';

/**
 * Does `work` as one of the changes of users and sessions, which come one after the other. A change gets its revision first:
 * until its end, no other one can have a later revision and be seen earlier.
 */
export function changeAdmin<Result>(
  database: Database,
  work: (transaction: Transaction, revision: number) => Promise<Result>,
): Promise<Result> {
  return database.transaction(async (transaction) => {
    const [row] = await transaction.query<{ revision: number }>(
      'UPDATE revisions SET revision = revision + 1 WHERE topic = $1 RETURNING revision',
      [ADMIN_TOPIC],
    );
    const result = await work(transaction, row?.revision ?? 0);
    await transaction.announce(ADMIN_TOPIC);
    return result;
  });
}
