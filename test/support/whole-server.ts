// SPDX-License-Identifier: Apache-2.0
import { pino } from 'pino';
import { UploadArena } from '../../src/analysis/memory/arena.js';
import { startPipeline } from '../../src/analysis/pipeline/pipeline.js';
import type { Config } from '../../src/base/config/options.js';
import { ServiceMetrics } from '../../src/base/observe/service-metrics.js';
import { type RunningServer, startServer } from '../../src/service/server.js';
import { openStorage } from '../../src/state/storage/open-storage.js';
import { testAuthenticator } from './test-server.js';

/** A server with the models of `config.modelsDir` and files in `config.dataDir`. Stop it at the end. */
export async function startWholeServer(config: Config): Promise<RunningServer> {
  const arena = new UploadArena(config.maxInflightBytes);
  return startServer({
    config,
    analyser: await startPipeline(config, arena.buffer),
    arena,
    keys: testAuthenticator,
    files: await openStorage(config),
    log: pino({ level: 'silent' }),
    metrics: new ServiceMetrics(),
  });
}
