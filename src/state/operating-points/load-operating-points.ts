// SPDX-License-Identifier: Apache-2.0
import { type DatabaseSettings, openUnchanged } from '../database/open-database.js';
import { OperatingPointTable } from './operating-point-table.js';
import { OperatingPoints } from './operating-points.js';

/**
 * All operating points and profiles, for a command that changes nothing.
 * @throws EarlierDataFolder, DatabaseError, EarlierTables
 */
export async function loadOperatingPoints(settings: DatabaseSettings): Promise<OperatingPoints> {
  const database = await openUnchanged(settings);
  if (database === undefined) return OperatingPoints.of([]);
  try {
    return await new OperatingPointTable(database).all();
  } finally {
    await database.close();
  }
}

/** Like `loadOperatingPoints`, but asks nobody if there is only a number and no profile. */
export const pointsForThreshold = async (
  settings: DatabaseSettings,
  threshold: number | string | undefined,
  profile?: string,
): Promise<OperatingPoints> =>
  typeof threshold === 'string' || profile !== undefined
    ? loadOperatingPoints(settings)
    : OperatingPoints.of([]);
