// SPDX-License-Identifier: Apache-2.0
import { UploadArena } from '../../src/analysis/memory/arena.js';
import { startPipeline } from '../../src/analysis/pipeline/pipeline.js';
import type { Config } from '../../src/base/config/options.js';
import { jobPartsOf } from '../../src/jobs/queue/job-parts.js';
import { startServer } from '../../src/service/server.js';
import type { RunningServer } from '../../src/service/server-options.js';
import { openDatabase } from '../../src/state/database/open-database.js';
import { OperatingPointTable } from '../../src/state/operating-points/operating-point-table.js';
import { ProfileTable } from '../../src/state/operating-points/profile-table.js';
import { openStorage } from '../../src/state/storage/open-storage.js';
import { serverParts } from './server-parts.js';

/** A server with the models of `config.modelsDir` and files in `config.dataDir`. Stop it at the end. */
export async function startWholeServer(config: Config): Promise<RunningServer> {
  const arena = new UploadArena(config.maxInflightBytes);
  const database = await openDatabase(config);
  const files = await openStorage(config);
  const jobs = jobPartsOf(config, database, files.home);
  const analyser = await startPipeline(config, arena.buffer);
  const points = new OperatingPointTable(database);
  const profiles = {
    table: new ProfileTable(database),
    refresh: async () => server.replaceOperatingPoints(await points.all()),
    note() {},
  };
  const parts = await serverParts(config, { files, jobs, profiles });
  const server = await startServer({ ...parts, analyser, arena });
  return {
    ...server,
    async stop() {
      await server.stop();
      await database.close();
    },
  };
}
