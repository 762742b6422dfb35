// SPDX-License-Identifier: Apache-2.0
//
// This wing puts a server together from the others, and runs it in one or more processes.
import { ModelRotation } from '../analysis/served/model-rotation.js';
import { ServedModels } from '../analysis/served/served-models.js';
import { permitsDrained, permitsInUse } from '../api/admission/permit-pools.js';
import { restWithoutDescriptors } from '../api/http/accept-rest.js';
import type { FrontDoor } from '../api/http/front-door.js';
import { type Listener, listen } from '../api/http/listener.js';
import type { TlsFiles } from '../api/http/tls-files.js';
import type { Wing } from '../api/routes/wing.js';
import type { ListenAddress } from '../base/config/listen-address.js';
import type { Config } from '../base/config/options.js';
import { LARGE_FILE_MODEL } from '../base/contract/model-ids.js';
import { ServiceError } from '../base/errors/service-error.js';
import { EndedRequests } from '../base/observe/ended-requests.js';
import { once } from '../base/once.js';
import { openJobsWing } from '../jobs/jobs-wing.js';
import type { OperatingPoints } from '../state/operating-points/operating-points.js';
import { openFront } from './front.js';
import { modelGauges } from './model-gauges.js';
import type { RunningServer, ServerOptions } from './server-options.js';
import { publicRoutes, serverRoutes } from './server-routes.js';

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

/** @throws Error if the port is taken, or if the arena is too small for one upload */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { config, files, log, metrics, recorders, isPortShared, databaseState, tracing } = options;
  const health = options.console?.health;
  const ended = new EndedRequests({ metrics, log, recorders, history: health });
  const front = openFront(options, ended, () => listener.port);
  const { door, permits, streams, connections, policy, rates } = front;
  const isStopping = (): boolean => door.phase !== 'running';
  const models = new ModelRotation(new ServedModels(options.analyser, health, options.wrongAnswers), log);
  const surroundings = { isStopping, databaseState, files };
  const gauges = { ...modelGauges(models, surroundings), ...front.gauges };
  metrics.declareGauges(gauges);

  const jobs = openJobsWing({
    ...{ config, files, models, metrics, ended, log, policy, tracing },
    jobParts: options.jobs,
    fetchSurroundings: options.fetchSurroundings,
  });
  const console = options.console?.open({
    ...{ config, rates, log, jobs: jobs.shared, ...surroundings },
    keys: options.keys,
    status: () => models.status(),
  });
  const wings: readonly Wing[] = console === undefined ? [jobs] : [jobs, console];

  function serve(next: ServedModels, operatingPoints: OperatingPoints): void {
    const routes = serverRoutes({
      ...{ config, metrics, log, front, jobs, ...surroundings },
      ...{ wings, models: next, operatingPoints, hasDashboard: console !== undefined },
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
  const operators = await listenForOperators(config.adminAddress, isPortShared, listener, door);
  const adminPort = operators?.port;
  const stopWatching = restWithoutDescriptors(listener, log, () => front.onClose('descriptors'));
  jobs.start();
  const timers = [
    setInterval(() => door.keepReceiving(), KEEP_RECEIVING_MS),
    setInterval(() => streams.sessions.sweep(), SWEEP_STREAMS_MS),
    setInterval(() => door.cutSlowBodies(), CUT_SLOW_BODIES_MS),
  ];
  log.info({ host: config.host, ...(operators && { adminPort }), port: listener.port }, 'listening');
  health?.start({ ...gauges, jobsBusy: () => jobs.busy() }, options.jobs.jobs);

  const inFlight = (): number => permitsInUse(permits);

  async function stop(): Promise<void> {
    log.info({ requestsInFlight: inFlight() }, 'stopping');
    door.phase = 'grace';
    const givenBack = Promise.all(wings.map((wing) => wing.giveBack?.()));
    await atMost(config.stopGraceMs, new Promise(() => {}));
    door.phase = 'draining';
    for (const wing of wings) wing.drain?.();
    streams.sessions.failAll(() => new ServiceError('STOPPING'));
    stopWatching();
    listener.stopListening();
    await atMost(config.stopDrainMs, permitsDrained(permits));
    if (inFlight() > 0)
      log.warn({ requestsInFlight: inFlight() }, 'cutting off requests at the drain deadline');
    await givenBack;
    for (const wing of wings) wing.close?.();
    for (const timer of timers) clearInterval(timer);
    listener.close();
    operators?.close();
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
    adminPort,
    get routes() {
      return door.routes;
    },
    replaceModels(analyser, operatingPoints) {
      if (isStopping()) throw new Error('The server is stopping.');
      const next = new ServedModels(analyser, health);
      serve(next, operatingPoints);
      models.replace(next);
      for (const wing of wings) wing.takeAnew?.();
    },
    replaceOperatingPoints(operatingPoints) {
      if (!isStopping()) serve(models.current, operatingPoints);
    },
    renewTls: () => listener.renewTls(),
    stop: once(stop),
  };
}
