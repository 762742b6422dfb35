// SPDX-License-Identifier: Apache-2.0
import { pino } from 'pino';
import { UploadArena } from '../../src/analysis/memory/arena.js';
import { startPipeline } from '../../src/analysis/pipeline/pipeline.js';
import type { Config } from '../../src/base/config/options.js';
import { ServiceMetrics } from '../../src/base/observe/service-metrics.js';
import { jobOfficeOf } from '../../src/service/jobs/job-office.js';
import { type RunningServer, startServer } from '../../src/service/server.js';
import { openDatabase } from '../../src/state/database/open-database.js';
import { openStorage } from '../../src/state/storage/open-storage.js';
import { testAuthenticator } from './test-server.js';

/** A server with the models of `config.modelsDir` and files in `config.dataDir`. Stop it at the end. */
export async function startWholeServer(config: Config): Promise<RunningServer> {
  const arena = new UploadArena(config.maxInflightBytes);
  const log = pino({ level: 'silent' });
  const database = await openDatabase(config);
  const files = await openStorage(config);
  const server = await startServer({
    config,
    analyser: await startPipeline(config, arena.buffer),
    arena,
    keys: testAuthenticator,
    files,
    jobs: jobOfficeOf(config, database, files.home),
    log,
    metrics: new ServiceMetrics(),
  });
  return {
    ...server,
    async stop() {
      await server.stop();
      await database.close();
    },
  };
}
