// SPDX-License-Identifier: Apache-2.0
import { encodeDirection } from '../../src/analysis/profiles/correction.js';
import { withDatabase } from '../../src/state/database/open-database.js';
import type { MeasuredErrors, OperatingPoint } from '../../src/state/operating-points/operating-point.js';
import { OperatingPointTable } from '../../src/state/operating-points/operating-point-table.js';
import type { NewProfile, Profile, ProfileVersion } from '../../src/state/operating-points/profile.js';
import { ProfileTable } from '../../src/state/operating-points/profile-table.js';
import { sqliteIn } from './stored-keys.js';

/** Operating points of a SQLite database in this folder. */
export const pointsIn = (dataDir: string): Promise<OperatingPoint[]> =>
  withDatabase(sqliteIn(dataDir), (database) => new OperatingPointTable(database).list());

/** @returns the replaced point */
export const savePoint = (dataDir: string, point: OperatingPoint): Promise<OperatingPoint | undefined> =>
  withDatabase(sqliteIn(dataDir), (database) => new OperatingPointTable(database).save(point));

export const saveProfile = (dataDir: string, profile: NewProfile): Promise<ProfileVersion[]> =>
  withDatabase(sqliteIn(dataDir), (database) => new ProfileTable(database).save(profile));

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

const errors: MeasuredErrors = { count: 3, of: 400, value: 0.0075, interval_95: [0.0026, 0.0218] };

export const someProfile: Profile = {
  version: 1,
  name: 'studio',
  model: somePoint.model,
  model_sha256: somePoint.model_sha256,
  fingerprint: somePoint.fingerprint,
  correction: { direction: encodeDirection(Float32Array.of(0.6, 0.8)), from: 1, to: 3, strength: 4 },
  recordings: { genuine: 10, generated: 0 },
  measured: {
    flagged: { without: errors, with: errors },
    passed: { without: errors, with: errors },
    passed_own: null,
  },
  created_at: '2026-11-27T12:00:00.000Z',
};
