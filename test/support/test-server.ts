// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { pino } from 'pino';
import type { DetectorStatus, PipelineStatus } from '../../src/analysis/analyser/analyser.js';
import type { FullAnalyser } from '../../src/analysis/analyser/recording.js';
import { UploadArena } from '../../src/analysis/memory/arena.js';
import { errorsOf, errorsOutsideOperations } from '../../src/api/openapi/responses.js';
import type { Route } from '../../src/api/routes/route.js';
import { loadAddon } from '../../src/base/addon/addon.js';
import { loadConfig } from '../../src/base/config/load-config.js';
import type { Config } from '../../src/base/config/options.js';
import { packageDir } from '../../src/base/config/package-dir.js';
import { namesOf } from '../../src/base/contract/model-ids.js';
import { startServer } from '../../src/service/server.js';
import type { RunningServer, ServerOptions } from '../../src/service/server-options.js';
import { AnalyserDouble, someDetector } from './analyser-double.js';
import { request } from './http-client.js';
import { serverParts } from './server-parts.js';
import { temporaryFolder } from './temporary-folder.js';

export {
  ADMIN_API_KEY,
  API_KEY,
  KEY_WITHOUT_SCOPE,
  OTHER_API_KEY,
  testAuthenticator,
  testKeys,
} from './test-keys.js';

/** The defaults on a machine with one core, except for limits that would disturb other tests. */
export const testConfig: Config = {
  ...loadConfig({}, { cores: 1, packageDir, stateDir: '' }),
  port: 0,
  // Every test has its own folder.
  dataDir: '',
  modelsDir: '',
  device: 'cpu',
  prepareThreads: 1,
  maxBatchWindows: 1,
  batchWaitMs: 0,
  maxConnectionsPerAddress: 0,
  maxInflightBytes: 64 << 20,
  // One key and address for most tests, which may hold requests without limit.
  maxTransfers: 1024,
  maxWaitMs: 300_000,
  keySharePercent: 100,
  keyMemoryPercent: 100,
  addressSharePercent: 100,
  keyConcurrency: 0,
  audit: 'off',
  auditDays: 0,
  usageDays: 0,
  maxLargeFileBytes: 5 << 20,
  maxVoiceidBytes: 4 << 20,
  receiveTimeoutMs: 300_000,
  largeFileReceiveTimeoutMs: 300_000,
  queueTimeoutMs: 300_000,
  analysisTimeoutMs: 300_000,
  largeFileTimeoutMs: 300_000,
  fetchTimeoutMs: 300_000,
  fetchStallTimeoutMs: 300_000,
  stopGraceMs: 0,
  stopDrainMs: 5000,
  diskReserveBytes: 0,
  logFormat: 'json',
  logLevel: 'silent',
};

export interface TestServer {
  readonly server: RunningServer;
  readonly port: number;
  readonly origin: string;
  readonly analyser: AnalyserDouble;
  readonly arena: UploadArena;
  /** The address in links of `/file`. */
  readonly storagePrefixes: readonly string[];
  /** The lines of the log, parsed. */
  readonly log: Record<string, unknown>[];
  /** The value of one series, by name and labels as in Prometheus. */
  metric(series: string): Promise<number>;
}

/** Every answered error must be in the operation's documentation. */
function assertDocumented(log: readonly Record<string, unknown>[], routes: readonly Route[]): void {
  const outside: readonly unknown[] = errorsOutsideOperations;
  for (const { errorKey, method, route: path } of log) {
    // Lines about jobs have no method.
    if (errorKey === undefined || method === undefined || outside.includes(errorKey)) continue;
    const asked = method === 'HEAD' || method === 'STREAM' ? 'GET' : method;
    const at = path === 'stream' ? '/v1/stream' : path;
    const route = routes.find((candidate) => candidate.path === at && candidate.method === asked);
    const documented: ReadonlySet<unknown> = route === undefined ? new Set() : errorsOf(route);
    assert.ok(documented.has(errorKey), `${errorKey} is not documented for ${method} ${path}.`);
  }
}

export interface TestParts
  extends Partial<
    Pick<
      ServerOptions,
      | 'keys'
      | 'files'
      | 'recorders'
      | 'metrics'
      | 'tracing'
      | 'jobs'
      | 'console'
      | 'streamClockMs'
      | 'storagePrefixes'
      | 'fetchSurroundings'
      | 'operatingPoints'
      | 'profiles'
      | 'rates'
    >
  > {
  /** The models at the start of the server. */
  readonly models?: readonly string[];
  /** The same with aliases. */
  readonly detectors?: readonly DetectorStatus[];
  readonly speakerModels?: PipelineStatus['speakerModels'];
}

const detectorOf = (id: string): DetectorStatus => ({ ...someDetector, id });

/** A real server on a free port of the loopback, stopped when the test ends. */
export async function startTestServer(
  test: TestContext,
  overrides: Partial<Config> = {},
  { models, detectors = models?.map(detectorOf), speakerModels, ...parts }: TestParts = {},
): Promise<TestServer> {
  const arena: UploadArena = new UploadArena(
    overrides.maxInflightBytes ?? testConfig.maxInflightBytes,
    (offset, length) => loadAddon().releasePages(arena.bytes.subarray(offset, offset + length)),
  );
  const analyser = new AnalyserDouble(arena, speakerModels);
  if (detectors !== undefined) {
    analyser.currentStatus = { ...analyser.currentStatus, models: namesOf(detectors), detectors };
  }
  return { ...(await startServerWith(test, analyser, arena, overrides, parts)), analyser };
}

/** The same with another analyser, which reads from `arena`. */
export async function startServerWith(
  test: TestContext,
  analyser: FullAnalyser,
  arena: UploadArena,
  overrides: Partial<Config> = {},
  parts: Omit<TestParts, 'models' | 'speakerModels'> = {},
): Promise<Omit<TestServer, 'analyser'>> {
  const config = { ...testConfig, dataDir: temporaryFolder(test), ...overrides };
  const log: Record<string, unknown>[] = [];
  const logger = pino(
    { level: overrides.logLevel ?? 'info', base: null, formatters: { level: (level) => ({ level }) } },
    { write: (line: string) => void log.push(JSON.parse(line)) },
  );
  const given = await serverParts(config, { log: logger, ...parts });
  const server = await startServer({ ...given, analyser, arena }).catch(async (error) => {
    await given.closers.close();
    throw error;
  });
  test.after(async () => {
    await server.stop();
    assertDocumented(log, server.routes);
  });
  const origin = `http://127.0.0.1:${server.port}`;
  async function metric(series: string): Promise<number> {
    const { text } = await request(server.adminPort ?? server.port, '/metrics');
    const line = text.split('\n').find((candidate) => candidate.startsWith(`${series} `));
    if (line === undefined) {
      const name = series.replace(/\{.*/, '').replace(/_(count|sum|bucket)$/, '');
      if (text.includes(`# TYPE ${name} `)) return 0;
      throw new Error(`There is no series ${series}.`);
    }
    return Number(line.slice(series.length + 1));
  }
  const storagePrefixes = given.files.storage.linkPrefixes(server.port);
  return { server, port: server.port, origin, arena, storagePrefixes, log, metric };
}
