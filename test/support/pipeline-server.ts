// SPDX-License-Identifier: Apache-2.0
import type { TestContext } from 'node:test';
import type { AnalysisProgress, AnalysisRequest } from '../../src/analysis/analyser/analyser.js';
import type { LiveRequest } from '../../src/analysis/analyser/live.js';
import type { FullAnalyser, RecordingRequest } from '../../src/analysis/analyser/recording.js';
import { UploadArena } from '../../src/analysis/memory/arena.js';
import { startPipeline } from '../../src/analysis/pipeline/pipeline.js';
import type { Config } from '../../src/base/config/options.js';
import { startServer } from '../../src/service/server.js';
import { modelsFolder } from './models-folder.js';
import { serverParts } from './server-parts.js';
import { temporaryFolder } from './temporary-folder.js';
import { testConfig } from './test-server.js';

/** The real pipeline, seen from outside. */
class WatchedAnalyser implements FullAnalyser {
  onStart: (request: AnalysisRequest) => void = () => {};
  onProgress: (progress: AnalysisProgress) => void = () => {};
  /** Called when an analysis is over and its file's memory is free. */
  onEnd: () => void = () => {};
  readonly #analyser: FullAnalyser;

  constructor(analyser: FullAnalyser) {
    this.#analyser = analyser;
  }

  analyse(request: AnalysisRequest) {
    this.onStart(request);
    const onProgress = (progress: AnalysisProgress): void => {
      request.onProgress?.(progress);
      this.onProgress(progress);
    };
    return this.#analyser.analyse({ ...request, onProgress }).finally(() => this.onEnd());
  }

  embed(request: AnalysisRequest) {
    return this.#analyser.embed(request);
  }

  analyseRecording(request: RecordingRequest) {
    return this.#analyser.analyseRecording(request);
  }

  openLive(request: LiveRequest) {
    return this.#analyser.openLive(request);
  }

  status() {
    return this.#analyser.status();
  }

  close() {
    return this.#analyser.close();
  }
}

export interface PipelineServer {
  readonly port: number;
  readonly analyser: WatchedAnalyser;
  readonly arena: UploadArena;
}

/** A server with the real pipeline, and a detector under the ids that the routes require. */
export async function startPipelineServer(
  test: TestContext,
  overrides: Partial<Config> = {},
): Promise<PipelineServer> {
  const modelsDir = modelsFolder(test, ['apollo-4-5-2026-03-26', 'apollo-4-2025-10-20']);
  const dataDir = temporaryFolder(test);
  const config: Config = {
    ...testConfig,
    dataDir,
    modelsDir,
    prepareThreads: 2,
    scoringThreads: 2,
    ...overrides,
  };
  const arena = new UploadArena(config.maxInflightBytes);
  const analyser = new WatchedAnalyser(await startPipeline(config, arena.buffer));
  const server = await startServer({ ...(await serverParts(config)), analyser, arena });
  test.after(() => server.stop());
  return { port: server.port, analyser, arena };
}
