// SPDX-License-Identifier: Apache-2.0

import { withDatabase } from '../../src/state/database/open-database.js';
import type { OperatingPoint } from '../../src/state/operating-points/operating-point.js';
import { OperatingPointTable } from '../../src/state/operating-points/operating-point-table.js';
import { sqliteIn } from './stored-keys.js';

/** Operating points of a SQLite database in this folder. */
export const pointsIn = (dataDir: string): Promise<OperatingPoint[]> =>
  withDatabase(sqliteIn(dataDir), (database) => new OperatingPointTable(database).list());

/** @returns the replaced point */
export const savePoint = (dataDir: string, point: OperatingPoint): Promise<OperatingPoint | undefined> =>
  withDatabase(sqliteIn(dataDir), (database) => new OperatingPointTable(database).save(point));

export const somePoint: OperatingPoint = {
  name: 'strict',
  model: 'detector-small-2026-11-22',
  model_sha256: '1'.repeat(64),
  fingerprint: '2'.repeat(64),
  threshold: 0.975,
  target: { rate: 'fpr', value: 0.01 },
  measured: { fpr: { count: 3, of: 400, value: 0.0075, interval_95: [0.0026, 0.0218] }, fnr: null },
  list: 'calls.csv',
  where: ['split=valid'],
  silence_threshold: 80,
  created_at: '2026-11-21T12:00:00.000Z',
};
