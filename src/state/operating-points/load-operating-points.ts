// SPDX-License-Identifier: Apache-2.0
import { type DatabaseSettings, openUnchanged } from '../database/open-database.js';
import { OperatingPointTable } from './operating-point-table.js';
import { OperatingPoints } from './operating-points.js';

/**
 * All operating points, for a command that changes nothing.
 * @throws EarlierDataFolder, DatabaseError
 */
export async function loadOperatingPoints(settings: DatabaseSettings): Promise<OperatingPoints> {
  const database = await openUnchanged(settings);
  if (database === undefined) return OperatingPoints.of([]);
  try {
    return OperatingPoints.of(await new OperatingPointTable(database).list());
  } finally {
    await database.close();
  }
}

/** Like `loadOperatingPoints`, but asks nobody if there is only a number. */
export const pointsForThreshold = async (
  settings: DatabaseSettings,
  threshold: number | string | undefined,
): Promise<OperatingPoints> =>
  typeof threshold === 'string' ? loadOperatingPoints(settings) : OperatingPoints.of([]);
