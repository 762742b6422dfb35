// SPDX-License-Identifier: Apache-2.0
import { pino } from 'pino';
import { Closers } from '../../src/base/closers.js';
import type { Config } from '../../src/base/config/options.js';
import { ServiceMetrics } from '../../src/base/observe/service-metrics.js';
import { jobPartsOf } from '../../src/jobs/queue/job-parts.js';
import type { ServerOptions } from '../../src/service/server-options.js';
import type { Database, Transaction } from '../../src/state/database/database.js';
import { OperatingPoints } from '../../src/state/operating-points/operating-points.js';
import { ProfileTable } from '../../src/state/operating-points/profile-table.js';
import { openStorage } from '../../src/state/storage/open-storage.js';
import { testAuthenticator } from './test-keys.js';

/** Has no rows and keeps none: opening a database for each server would take longer than most tests. */
const emptyDatabase: Database & Transaction = {
  dialect: 'sqlite',
  name: 'an empty database',
  query: async () => [],
  queryPromptly: async () => [],
  execute: async () => 0,
  script: async () => {},
  announce: async () => {},
  transaction: (work) => work(emptyDatabase),
  follow: () => () => {},
  close: async () => {},
};

export const noPoints = OperatingPoints.of([]);

/** Everything that a server of a test needs besides its analyser. Tests of jobs give jobs with a database of their own. */
export async function serverParts(
  config: Config,
  { log = pino({ level: 'silent' }), ...given }: Partial<ServerOptions> = {},
): Promise<Omit<ServerOptions, 'analyser' | 'arena'>> {
  const files = given.files ?? (await openStorage(config));
  const closers = new Closers(log);
  closers.add('files', () => files.storage.close());
  for (const recorder of given.recorders ?? []) closers.add('recorder', () => recorder.close());
  return {
    // That database takes no jobs, so uploads make none.
    config: given.jobs === undefined ? { ...config, analyseUploads: 'off' } : config,
    log,
    closers,
    files,
    jobs: given.jobs ?? jobPartsOf(config, emptyDatabase, files.home),
    keys: testAuthenticator,
    operatingPoints: noPoints,
    profiles: { table: new ProfileTable(emptyDatabase), refresh: async () => {}, note() {} },
    wrongAnswers: [],
    databaseState: () => 'up',
    metrics: new ServiceMetrics(),
    tracing: undefined,
    isPortShared: false,
    recorders: [],
    console: undefined,
    ...given,
  };
}
