// SPDX-License-Identifier: Apache-2.0
import { type DatabaseSettings, openUnchanged } from '../database/open-database.js';
import type { OperatingPoint } from './operating-point.js';
import { earlierPointFile } from './operating-point-file.js';
import { OperatingPointRegistry } from './operating-point-registry.js';
import { OperatingPoints } from './operating-points.js';
import { readPointFile } from './read-point-file.js';

/**
 * All operating points, for a command that changes nothing: from the database and, if there is one, the earlier file.
 * @throws DatabaseError, OperatingPointFileError
 */
export async function loadOperatingPoints(settings: DatabaseSettings): Promise<OperatingPoints> {
  const file = earlierPointFile(settings.dataDir);
  const filed = file === undefined ? [] : readPointFile(file);
  const database = await openUnchanged(settings);
  if (database === undefined) return OperatingPoints.of(filed);
  try {
    const stored = await new OperatingPointRegistry(database).list();
    const names = new Set(stored.map(nameOf));
    return OperatingPoints.of([...stored, ...filed.filter((point) => !names.has(nameOf(point)))]);
  } finally {
    await database.close();
  }
}

const nameOf = ({ name, model }: OperatingPoint): string => `${name} of ${model}`;

/** Like `loadOperatingPoints`, but asks nobody if there is only a number. */
export const pointsForThreshold = async (
  settings: DatabaseSettings,
  threshold: number | string | undefined,
): Promise<OperatingPoints> =>
  typeof threshold === 'string' ? loadOperatingPoints(settings) : OperatingPoints.of([]);
