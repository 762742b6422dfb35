// SPDX-License-Identifier: Apache-2.0

import { setMaxListeners } from 'node:events';
import type { FullAnalyser } from '../analysis/analyser/recording.js';
import type { CheckedModels } from '../analysis/known-answers/checked-models.js';
import type { UploadArena } from '../analysis/memory/arena.js';
import { ModelRotation } from '../analysis/served/model-rotation.js';
import { ServedModels } from '../analysis/served/served-models.js';
import { ExpectedWait } from '../api/admission/expected-wait.js';
import { type InFlightElsewhere, KeyConcurrency } from '../api/admission/key-concurrency.js';
import { openPermitPools, permitsDrained, permitsInUse } from '../api/admission/permit-pools.js';
import { type RateCounter, RateLimits, rateLimitOf } from '../api/admission/rate-limits.js';
import { RequestPermits } from '../api/admission/request-permits.js';
import { refuseUnacceptable, surroundings } from '../api/fetch/acceptable-addresses.js';
import { type FetchTarget, linkPolicy, webhookPolicy } from '../api/fetch/fetch-policy.js';
import { type FetchSurroundings, PresignedFetcher } from '../api/fetch/presigned-fetcher.js';
import { restWithoutDescriptors } from '../api/http/accept-rest.js';
import { AnswerLimits } from '../api/http/answer-limits.js';
import { ClientAddresses } from '../api/http/client-address.js';
import { Connections } from '../api/http/connections.js';
import { Cors } from '../api/http/cors.js';
import { connectionsInDescriptors } from '../api/http/descriptors.js';
import { FrontDoor } from '../api/http/front-door.js';
import { type Listener, listen } from '../api/http/listener.js';
import { connectionsByPeer } from '../api/http/peer-connections.js';
import type { TlsFiles } from '../api/http/tls-files.js';
import { createLargeFilePermits } from '../api/routes/large-file-intake.js';
import type { Route } from '../api/routes/route.js';
import type { SharedStreamParts } from '../api/routes/stream.js';
import { StreamSessions } from '../api/streams/stream-sessions.js';
import { Tickets } from '../api/streams/tickets.js';
import { ArenaQueue } from '../api/upload/arena-queue.js';
import { FORM_OVERHEAD_BYTES } from '../api/upload/form-upload.js';
import type { ListenAddress } from '../base/config/listen-address.js';
import type { Config } from '../base/config/options.js';
import { LARGE_FILE_MODEL } from '../base/contract/model-ids.js';
import { ServiceError } from '../base/errors/service-error.js';
import type { CloseReason } from '../base/observe/close-reason.js';
import { EndedRequests } from '../base/observe/ended-requests.js';
import type { Logger } from '../base/observe/log.js';
import type { RequestRecorder } from '../base/observe/request-record.js';
import type { ServiceMetrics } from '../base/observe/service-metrics.js';
import { once } from '../base/once.js';
import type { Tracing } from '../base/tracing/tracing.js';
import type { HealthCounter } from '../console/health/health-counter.js';
import { type AdminStateParts, openAdminParts } from '../console/routes/admin-parts.js';
import { startBackgroundWork } from '../jobs/background-work.js';
import type { JobParts } from '../jobs/queue/job-parts.js';
import { JobWatch } from '../jobs/routes/job-watch.js';
import type { DatabaseState } from '../state/database/database.js';
import type { Authenticator } from '../state/keys/authenticator.js';
import type { OperatingPoints } from '../state/operating-points/operating-points.js';
import type { FileStore } from '../state/storage/open-storage.js';
import { gaugesOf } from './model-gauges.js';
import { publicRoutes, serverRoutes } from './server-routes.js';

/** Its `health` is closed by the caller after the server has stopped. */
export interface ServerAdmin extends AdminStateParts {
  readonly health: HealthCounter;
}

export interface ServerOptions {
  readonly config: Config;
  readonly analyser: FullAnalyser;
  /** Wrong answers of its models in the self-check at start. */
  readonly wrongAnswers: CheckedModels['wrongAnswers'];
  /** The same arena that the analyser's threads read from. */
  readonly arena: UploadArena;
  readonly keys: Authenticator;
  /** Whether the database has answered lately, and can be written. */
  readonly databaseState: () => DatabaseState;
  /** Closed with the server. */
  readonly files: FileStore;
  /** Points a request may name. */
  readonly operatingPoints: OperatingPoints;
  readonly log: Logger;
  readonly metrics: ServiceMetrics;
  /** Undefined without traces. Closed by the caller after the server has stopped. */
  readonly tracing: Tracing | undefined;
  /** Other processes of the same server listen on its ports also. */
  readonly isPortShared: boolean;
  /** Told of every request to the API; closed last of all when the server stops. */
  readonly recorders: readonly RequestRecorder[];
  /** Beginnings of links to the configured storage; by default from `files`. */
  readonly storagePrefixes?: (port: number) => readonly string[];
  readonly fetchSurroundings?: Partial<FetchSurroundings>;
  /** Closed by the caller after the server has stopped. */
  readonly jobs: JobParts;
  /** Without one there is no admin API, and nothing is remembered for it. */
  readonly admin: ServerAdmin | undefined;
  /** Shared with the other processes of the same server; absent without any. */
  readonly rates?: RateCounter;
  readonly inFlightElsewhere?: InFlightElsewhere;
  /** The clock of streams' time limits; default `performance.now`. */
  readonly streamClockMs?: () => number;
}

export interface RunningServer {
  readonly port: number;
  /** Undefined without an admin address. */
  readonly adminPort: number | undefined;
  /** Routes for requests that begin now. */
  readonly routes: readonly Route[];
  /**
   * Answers requests that begin from now on with other models and operating points. Earlier requests go on with the ones
   * before, and the models are closed when the last of them is over.
   * @throws Error when the configuration names a model or a point that is not among them; then nothing has changed
   */
  replaceModels(analyser: FullAnalyser, operatingPoints: OperatingPoints): void;
  /**
   * Requests that begin from now on may name these.
   * @throws Error when the configuration names a point that is not among them; then nothing has changed
   */
  replaceOperatingPoints(operatingPoints: OperatingPoints): void;
  /**
   * Reads the certificate and its key again, for connections that are opened from now on; nothing without TLS.
   * @throws Error that says why they cannot be used; then nothing has changed
   */
  renewTls(): void;
  /**
   * Not ready at once; then takes requests for `stopGraceMs` more, so that load balancers notice; then no new ones, and
   * those in flight get `stopDrainMs`. Closes the analyser. Resolves when nothing is left; later calls wait for the first.
   */
  stop(): Promise<void>;
}

/** Uploads that may wait for room in the arena. */
const MAX_WAITING_UPLOADS = 256;
/** Well under the 10 s of uWebSockets.js' receive timer, which ticks every 4 s. */
const KEEP_RECEIVING_MS = 3000;

const CUT_SLOW_BODIES_MS = 1000;
const SWEEP_STREAMS_MS = 1000;

/** For requests that were cut off to notice that they were. */
const SETTLE_MS = 2000;

/** Resolves after that time, or earlier with `other`. */
async function atMost(timeoutMs: number, other: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, timeoutMs);
  });
  await Promise.race([timeout, other]);
  clearTimeout(timer);
}

function tlsFiles({ tlsCertFile: certFile, tlsKeyFile: keyFile }: Config): TlsFiles | undefined {
  if (certFile === '' && keyFile === '') return undefined;
  if (certFile === '') throw new Error('VERAVOX_TLS_KEY is set, but VERAVOX_TLS_CERT is not.');
  if (keyFile === '') throw new Error('VERAVOX_TLS_CERT is set, but VERAVOX_TLS_KEY is not.');
  return { certFile, keyFile };
}

/** Without limits of connections: operators get in when strangers have taken them all. */
async function listenForOperators(
  address: ListenAddress | undefined,
  isShared: boolean,
  publicListener: Listener,
  door: FrontDoor,
): Promise<Listener | undefined> {
  if (address === undefined) return undefined;
  try {
    return await listen({
      ...address,
      isShared,
      handle: door.handleAdmin,
      handleUpgrade: door.handleAdminUpgrade,
    });
  } catch (error) {
    publicListener.close();
    throw error;
  }
}

/** @throws Error when the port is taken, or when the arena is too small for one upload */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { config, arena, keys, files, log, metrics, recorders, isPortShared, databaseState } = options;
  for (const name of ['maxPredictBytes', 'maxLargeFileBytes', 'maxVoiceidBytes'] as const) {
    const bodyBytes = config[name] + FORM_OVERHEAD_BYTES;
    if (arena.totalBytes >= bodyBytes) continue;
    throw new Error(
      `maxInflightBytes is ${arena.totalBytes}, but one upload of ${name} = ${config[name]} ` +
        `needs ${bodyBytes} including its form.`,
    );
  }
  const expectedWait = new ExpectedWait({ targetMs: config.maxWaitMs, parallel: config.scoringThreads });
  const permits = openPermitPools(config, expectedWait);
  const { keySharePercent, keyMemoryPercent, addressSharePercent: address } = config;
  const shares = { key: keySharePercent, address };
  const memoryShares = { key: keyMemoryPercent, address };
  const queue = new ArenaQueue(arena, {
    maxWaiting: MAX_WAITING_UPLOADS,
    timeoutMs: config.queueTimeoutMs,
    percents: memoryShares,
  });
  const storagePrefixes = options.storagePrefixes ?? ((port: number) => files.storage.linkPrefixes(port));
  const policy = linkPolicy(
    config,
    () => storagePrefixes(listener.port),
    (url) => files.storage.isOwnLink(url),
  );
  const callbackPolicy = webhookPolicy(config);
  const around = { ...surroundings, ...options.fetchSurroundings };
  const refuseAddress = (target: FetchTarget): Promise<void> => refuseUnacceptable(target, around);
  const timeouts = { stallTimeoutMs: config.fetchStallTimeoutMs, totalTimeoutMs: config.fetchTimeoutMs };
  const fetcher = new PresignedFetcher(policy, queue, timeouts, options.fetchSurroundings, files.storage);
  const intake = { queue, fetcher };
  const largeFilePermits = createLargeFilePermits(config);
  const { jobs: jobParts } = options;
  const health = options.admin?.health;
  const ended = new EndedRequests({ metrics, log, recorders, history: health });
  const isStopping = (): boolean => door.phase !== 'running';
  const onClose = (reason: CloseReason): void => metrics.countClosed(reason);
  const addresses = new ClientAddresses(config.trustedProxies);
  const answers = new AnswerLimits({
    maxBytes: config.maxAnswerBytes,
    percents: memoryShares,
    timeoutMs: config.receiveTimeoutMs,
    onClose,
  });
  const connections = new Connections({
    max: Math.min(config.maxConnections, connectionsInDescriptors()),
    maxPerAddress: config.maxConnectionsPerAddress,
    isExempt: (address) => addresses.isTrustedProxy(address),
    countByPeer: () => connectionsByPeer(listener.port),
    onClose,
  });
  const streams: SharedStreamParts = {
    sessions: new StreamSessions({
      idleTimeoutS: config.streamIdleTimeoutS,
      maxDurationS: config.maxStreamDurationS,
      isActive: (keyId) => keys.find(keyId) !== undefined,
      ...(options.streamClockMs && { nowMs: options.streamClockMs }),
    }),
    permits: new RequestPermits(config.maxStreams, { percents: shares, what: 'streams' }),
    connections: new RequestPermits(config.maxStreams, { percents: shares, what: 'connections of streams' }),
    memory: queue.memory,
    tickets: new Tickets(files.signingSecret),
    record: (record) => ended.note(record, true),
  };
  const rates = options.rates ?? new RateLimits(rateLimitOf(config));
  const adminParts =
    options.admin &&
    openAdminParts({
      ...options.admin,
      ...{ config, keys, rates, log, isStopping, databaseState, files },
      status: () => models.status(),
    });
  const door = new FrontDoor({
    keys,
    permits,
    expectedWait,
    rates,
    concurrency: new KeyConcurrency(config.keyConcurrency, options.inFlightElsewhere),
    ended,
    addresses,
    answers,
    memory: queue.memory,
    cors: new Cors(config.corsOrigins),
    tracing: options.tracing,
    redeemTicket: (ticket) => streams.tickets.redeem(ticket),
    sendTimeoutMs: config.receiveTimeoutMs,
  });
  const models = new ModelRotation(new ServedModels(options.analyser, health, options.wrongAnswers), log);
  const gauges = {
    ...gaugesOf(models, { isStopping, databaseState, files }),
    requestsInFlight: () => permits.requests.inUse,
    transfersInFlight: () => permits.transfers.inUse,
    eventStreams: () => permits.watches.inUse + permits.adminWatches.inUse,
    streams: () => streams.sessions.open,
    streamsAway: () => streams.sessions.away,
    expectedWaitS: () => expectedWait.waitMs / 1000,
    connections: () => connections.open,
    heldAnswerBytes: () => answers.usedBytes,
    uploadsWaiting: () => queue.waiting,
    clientMemoryBytes: () => queue.memory.usedBytes,
    arenaUsedBytes: () => arena.usedBytes,
    arenaTotalBytes: () => arena.totalBytes,
  };
  metrics.declareGauges(gauges);

  const watch = new JobWatch(jobParts.jobs);
  const draining = new AbortController();
  // Each client that follows a job listens.
  setMaxListeners(0, draining.signal);

  function serve(next: ServedModels, operatingPoints: OperatingPoints): void {
    const routes = serverRoutes({
      ...{ config, intake, largeFilePermits, files, streams, metrics, log, isStopping, databaseState },
      admin: adminParts,
      jobs: {
        jobs: jobParts.jobs,
        ...{ policy, callbackPolicy, refuseAddress },
        watch,
        stopping: draining.signal,
      },
      awaitedUploads: files.bucket && jobParts.awaitedUploads,
      models: next,
      operatingPoints,
    });
    door.serve(publicRoutes(routes, config, files), routes);
    if (!next.status().models.includes(LARGE_FILE_MODEL)) {
      log.warn({ model: LARGE_FILE_MODEL }, 'model not loaded: no large files and no predictions in v0');
    }
  }

  serve(models.current, options.operatingPoints);
  const listener = await listen({
    host: config.host,
    port: config.port,
    isShared: isPortShared,
    tls: tlsFiles(config),
    handle: door.handle,
    handleUpgrade: door.handleUpgrade,
    admits: connections.admits,
    ended: connections.ended,
  });
  const admin = await listenForOperators(config.adminAddress, isPortShared, listener, door);
  const stopWatching = restWithoutDescriptors(listener, log, () => onClose('descriptors'));
  const background = startBackgroundWork({
    tracing: options.tracing,
    ...{ config, jobParts, files, models, metrics, ended, log, policy, callbackPolicy },
    fetchSurroundings: options.fetchSurroundings,
  });
  const keepReceiving = setInterval(() => door.keepReceiving(), KEEP_RECEIVING_MS);
  const sweepStreams = setInterval(() => streams.sessions.sweep(), SWEEP_STREAMS_MS);
  const cutSlowBodies = setInterval(() => door.cutSlowBodies(), CUT_SLOW_BODIES_MS);
  log.info({ host: config.host, ...(admin && { adminPort: admin.port }), port: listener.port }, 'listening');
  health?.start({ ...gauges, jobsBusy: () => background.jobsBusy() }, jobParts.jobs);

  const inFlight = (): number => permitsInUse(permits);

  async function stop(): Promise<void> {
    log.info({ requestsInFlight: inFlight() }, 'stopping');
    door.phase = 'grace';
    const givenBack = background.close();
    await atMost(config.stopGraceMs, new Promise(() => {}));
    door.phase = 'draining';
    draining.abort();
    streams.sessions.failAll(() => new ServiceError('STOPPING'));
    stopWatching();
    listener.stopListening();
    await atMost(config.stopDrainMs, permitsDrained(permits));
    if (inFlight() > 0)
      log.warn({ requestsInFlight: inFlight() }, 'cutting off requests at the drain deadline');
    await givenBack;
    adminParts?.sessions.close();
    clearInterval(keepReceiving);
    clearInterval(sweepStreams);
    clearInterval(cutSlowBodies);
    listener.close();
    admin?.close();
    files.watch?.close();
    await Promise.all([models.close(), files.storage.close()]);
    // Cut-off requests are recorded once their promises have settled, which may take a turn of the disk or the network.
    await atMost(SETTLE_MS, permitsDrained(permits));
    if (inFlight() > 0)
      log.warn({ requestsInFlight: inFlight() }, 'stopped before all requests were recorded');
    door.close();
    await ended.close();
    log.info('stopped');
  }

  return {
    port: listener.port,
    adminPort: admin?.port,
    get routes() {
      return door.routes;
    },
    replaceModels(analyser, operatingPoints) {
      if (isStopping()) throw new Error('The server is stopping.');
      const next = new ServedModels(analyser, health);
      serve(next, operatingPoints);
      models.replace(next);
      background.takeAnew();
    },
    replaceOperatingPoints(operatingPoints) {
      if (!isStopping()) serve(models.current, operatingPoints);
    },
    renewTls: () => listener.renewTls(),
    stop: once(stop),
  };
}
