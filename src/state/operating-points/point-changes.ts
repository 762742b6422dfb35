// SPDX-License-Identifier: Apache-2.0
import type { Database, Transaction } from '../database/database.js';

/** Announced with every change of an operating point or a profile. */
export const POINTS_TOPIC = 'operating-points';

/** Makes a change. All servers then read all points and profiles, and make their routes anew: call it only if something changes. */
export function changed<Result>(
  database: Database,
  work: (transaction: Transaction) => Promise<Result>,
): Promise<Result> {
  return database.transaction(async (transaction) => {
    // First, so that changes take turns.
    await transaction.execute('UPDATE revisions SET revision = revision + 1 WHERE topic = $1', [
      POINTS_TOPIC,
    ]);
    const result = await work(transaction);
    await transaction.announce(POINTS_TOPIC);
    return result;
  });
}
