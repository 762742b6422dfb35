// SPDX-License-Identifier: Apache-2.0
import type { TestContext } from 'node:test';
import { pino } from 'pino';
import type { Config } from '../../src/config/config.js';
import { startServer } from '../../src/http/server.js';
import { ServiceMetrics } from '../../src/observe/service-metrics.js';
import type { Analyser } from '../../src/pipeline/analysis.js';
import { startPipeline } from '../../src/pipeline/pipeline.js';
import { UploadArena } from '../../src/upload/arena.js';
import { modelsFolder } from './models-folder.js';
import { testConfig, testKeys } from './test-server.js';

export interface PipelineServer {
  readonly port: number;
  readonly analyser: Analyser;
  readonly arena: UploadArena;
  /** The lines of the log, parsed. */
  readonly log: Record<string, unknown>[];
}

/** A server with the real pipeline behind it, and a detector under the ids that the routes ask for. */
export async function startPipelineServer(
  test: TestContext,
  overrides: Partial<Config> = {},
): Promise<PipelineServer> {
  const modelsDir = modelsFolder(test, ['apollo-4-5-2026-03-26', 'apollo-4-2025-10-20']);
  const config: Config = { ...testConfig, modelsDir, prepareThreads: 2, scoringThreads: 2, ...overrides };
  const arena = new UploadArena(config.maxInflightBytes);
  const analyser = await startPipeline(config, arena.buffer);
  const log: Record<string, unknown>[] = [];
  const server = await startServer({
    config,
    analyser,
    arena,
    keys: { authenticate: (presented) => testKeys.get(presented) },
    log: pino({ level: 'info', base: null }, { write: (line: string) => void log.push(JSON.parse(line)) }),
    metrics: new ServiceMetrics(),
  });
  test.after(() => server.stop());
  return { port: server.port, analyser, arena, log };
}
