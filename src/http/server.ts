// SPDX-License-Identifier: Apache-2.0
import type { Authenticator } from '../admission/authenticator.js';
import { KeyConcurrency } from '../admission/key-concurrency.js';
import { RateLimits } from '../admission/rate-limits.js';
import { RequestPermits } from '../admission/request-permits.js';
import type { Config } from '../config/config.js';
import { FetchPolicy } from '../fetch/fetch-policy.js';
import { type FetchSurroundings, PresignedFetcher } from '../fetch/presigned-fetcher.js';
import type { Logger } from '../observe/log.js';
import type { RequestRecorder } from '../observe/request-record.js';
import type { ServiceMetrics } from '../observe/service-metrics.js';
import { OperatingPoints } from '../operating-points/operating-points.js';
import type { Analyser } from '../pipeline/analysis.js';
import { LARGE_FILE_MODEL } from '../routes/predict-fields.js';
import type { Route } from '../routes/route.js';
import type { FileStore } from '../storage/open-storage.js';
import type { UploadArena } from '../upload/arena.js';
import { ArenaQueue } from '../upload/arena-queue.js';
import { FORM_OVERHEAD_BYTES } from '../upload/form-upload.js';
import { FrontDoor } from './front-door.js';
import { serverRoutes } from './server-routes.js';
import { listen } from './uws.js';

export interface ServerOptions {
  readonly config: Config;
  readonly analyser: Analyser;
  /** The same arena that the analyser's threads read from. */
  readonly arena: UploadArena;
  readonly keys: Authenticator;
  /** Closed with the server. */
  readonly files: FileStore;
  /** Those that requests may name; none when absent. */
  readonly operatingPoints?: OperatingPoints;
  readonly log: Logger;
  readonly metrics: ServiceMetrics;
  /** Told of every request to the API; closed last of all when the server stops. */
  readonly recorders?: readonly RequestRecorder[];
  /** Where links to the configured storage lead; those of `files` when absent. */
  readonly storagePrefixes?: (port: number) => readonly string[];
  readonly fetchSurroundings?: Partial<FetchSurroundings>;
}

export interface RunningServer {
  readonly port: number;
  readonly routes: readonly Route[];
  /**
   * Not ready at once; then takes requests for `stopGraceMs` more, so that load balancers notice; then no new ones, and
   * those in flight get `stopDrainMs`. Closes the analyser. Resolves when nothing is left; later calls wait for the first.
   */
  stop(): Promise<void>;
}

/** Uploads that may wait for room in the arena; each may hold one chunk of up to 512 KiB that had already arrived. */
const MAX_WAITING_UPLOADS = 256;
/** Well under the 10 s of uWebSockets.js' receive timer, which ticks every 4 s. */
const KEEP_RECEIVING_MS = 3000;

/** Resolves after that time, or earlier with `other`. */
async function atMost(timeoutMs: number, other: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, timeoutMs);
  });
  await Promise.race([timeout, other]);
  clearTimeout(timer);
}

/** @throws Error when the port is taken, or when the arena is too small for one upload */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { config, analyser, arena, keys, files, log, metrics, recorders = [] } = options;
  const { operatingPoints = OperatingPoints.of([]) } = options;
  for (const name of ['maxPredictBytes', 'maxLargeFileBytes', 'maxVoiceidBytes'] as const) {
    const bodyBytes = config[name] + FORM_OVERHEAD_BYTES;
    if (arena.totalBytes >= bodyBytes) continue;
    throw new Error(
      `maxInflightBytes is ${arena.totalBytes}, but one upload of ${name} = ${config[name]} ` +
        `needs ${bodyBytes} with the form around it.`,
    );
  }
  const permits = new RequestPermits(config.maxInflightRequests);
  const queue = new ArenaQueue(arena, { maxWaiting: MAX_WAITING_UPLOADS, timeoutMs: config.queueTimeoutMs });
  const storagePrefixes = options.storagePrefixes ?? ((port: number) => files.storage.linkPrefixes(port));
  const fetcher = new PresignedFetcher(
    new FetchPolicy(() => storagePrefixes(listener.port), config.fetchAllowedHosts),
    queue,
    { stallTimeoutMs: config.fetchStallTimeoutMs, totalTimeoutMs: config.fetchTimeoutMs },
    options.fetchSurroundings,
  );
  const intake = { queue, fetcher };
  const isStopping = (): boolean => door.phase !== 'running';
  const routes = serverRoutes({
    config,
    analyser,
    intake,
    files,
    operatingPoints,
    metrics,
    log,
    isStopping,
  });
  if (!analyser.status().models.includes(LARGE_FILE_MODEL)) {
    log.warn({ model: LARGE_FILE_MODEL }, 'model not loaded: no large files, and no predict in v0');
  }
  const door = new FrontDoor({
    routes,
    keys,
    permits,
    rates: new RateLimits({ requests: config.rateLimitRequests, windowS: config.rateLimitWindowS }),
    concurrency: new KeyConcurrency(config.keyConcurrency),
    recorders,
    metrics,
    log,
    sendTimeoutMs: config.receiveTimeoutMs,
  });
  metrics.declareGauges({
    requestsInFlight: () => permits.inUse,
    uploadsWaiting: () => queue.waiting,
    arenaUsedBytes: () => arena.usedBytes,
    arenaTotalBytes: () => arena.totalBytes,
    ready: () => analyser.status().ready && !isStopping(),
    wrongAnswers: () => analyser.status().wrongAnswers.length,
    provider: () => analyser.status().provider,
    fellBackToCpu: () => analyser.status().fallbackReason !== undefined,
  });
  const listener = await listen(config.host, config.port, door.handle);
  const keepReceiving = setInterval(() => door.keepReceiving(), KEEP_RECEIVING_MS);
  log.info({ host: config.host, port: listener.port }, 'listening');

  async function stop(): Promise<void> {
    log.info({ requestsInFlight: permits.inUse }, 'stopping');
    door.phase = 'grace';
    await atMost(config.stopGraceMs, new Promise(() => {}));
    door.phase = 'draining';
    listener.stopListening();
    await atMost(config.stopDrainMs, permits.drained());
    if (permits.inUse > 0)
      log.warn({ requestsInFlight: permits.inUse }, 'cutting off requests at the drain deadline');
    clearInterval(keepReceiving);
    listener.close();
    await Promise.all([analyser.close(), files.storage.close()]);
    // What was cut off is recorded once its promises have settled.
    await new Promise((resolve) => setImmediate(resolve));
    await Promise.all(recorders.map((recorder) => recorder.close()));
    log.info('stopped');
  }

  let stopped: Promise<void> | undefined;
  return {
    port: listener.port,
    routes,
    stop() {
      stopped ??= stop();
      return stopped;
    },
  };
}
