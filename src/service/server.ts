// SPDX-License-Identifier: Apache-2.0
//
// This wing puts a server together from the others, and runs it in one or more processes.
import { ModelRotation } from '../analysis/served/model-rotation.js';
import { ServedModels } from '../analysis/served/served-models.js';
import { permitsDrained, permitsInUse } from '../api/admission/permit-pools.js';
import { restWithoutDescriptors } from '../api/http/accept-rest.js';
import { listen } from '../api/http/listener.js';
import type { TlsFiles } from '../api/http/tls-files.js';
import type { Wing } from '../api/routes/wing.js';
import { atMost } from '../base/at-most.js';
import type { Config } from '../base/config/options.js';
import { LARGE_FILE_MODEL } from '../base/contract/model-ids.js';
import { ServiceError } from '../base/errors/service-error.js';
import { EndedRequests } from '../base/observe/ended-requests.js';
import type { Logger } from '../base/observe/log.js';
import { once } from '../base/once.js';
import { openJobsWing } from '../jobs/jobs-wing.js';
import type { OperatingPoints } from '../state/operating-points/operating-points.js';
import { type Front, openFront } from './front.js';
import { modelGauges } from './model-gauges.js';
import type { RunningServer, ServerOptions } from './server-options.js';
import { publicRoutes, serverRoutes } from './server-routes.js';

/** Well under the 10 s of uWebSockets.js' receive timer, which ticks every 4 s. */
const KEEP_RECEIVING_MS = 3000;

const CUT_SLOW_BODIES_MS = 1000;
const SWEEP_STREAMS_MS = 1000;

/** For requests that were cut off to notice that they were. */
const SETTLE_MS = 2000;

function tlsFiles({ tlsCertFile: certFile, tlsKeyFile: keyFile }: Config): TlsFiles | undefined {
  if (certFile === '' && keyFile === '') return undefined;
  if (certFile === '') throw new Error('VERAVOX_TLS_KEY is set, but VERAVOX_TLS_CERT is not.');
  if (keyFile === '') throw new Error('VERAVOX_TLS_CERT is set, but VERAVOX_TLS_KEY is not.');
  return { certFile, keyFile };
}

/**
 * `options.closers` gets whatever it opens, also if it fails.
 * @throws Error if the port is taken, or if the arena is too small for one upload
 */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { config, closers, files, log, metrics, recorders, isPortShared, databaseState, tracing } = options;
  const health = options.console?.health;
  const models = new ModelRotation(new ServedModels(options.analyser, health, options.wrongAnswers), log);
  closers.add('models in use', () => models.close());
  const ended = new EndedRequests({ metrics, log, recorders, history: health });
  closers.add('requests', () => ended.close());
  const front = openFront(options, ended, () => listener.port);
  const { door, streams, connections, policy, rates } = front;
  closers.add('front door', () => closeDoor(front, log));
  const isStopping = (): boolean => door.phase !== 'running';
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
  closers.add('console', () => console?.close?.());
  const wings: readonly Wing[] = console === undefined ? [jobs] : [jobs, console];

  function serve(next: ServedModels, operatingPoints: OperatingPoints): void {
    const routes = serverRoutes({
      ...{ config, metrics, log, front, jobs, ...surroundings },
      ...{ profiles: options.profiles },
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
  closers.add('listener', () => listener.close());
  // Without limits of connections: operators get in when strangers have taken them all.
  const operators =
    config.adminAddress &&
    (await listen({
      ...config.adminAddress,
      isShared: isPortShared,
      handle: door.handleAdmin,
      handleUpgrade: door.handleAdminUpgrade,
    }));
  closers.add('listener for operators', () => operators?.close());
  const stopWatching = restWithoutDescriptors(listener, log, () => front.onClose('descriptors'));
  closers.add('watch over descriptors', stopWatching);
  jobs.start();
  closers.add('work in the background', () => jobs.giveBack());
  const timers = [
    setInterval(() => door.keepReceiving(), KEEP_RECEIVING_MS),
    setInterval(() => streams.sessions.sweep(), SWEEP_STREAMS_MS),
    setInterval(() => door.cutSlowBodies(), CUT_SLOW_BODIES_MS),
  ];
  closers.add('timers', () => {
    for (const timer of timers) clearInterval(timer);
  });
  const adminPort = operators?.port;
  log.info({ host: config.host, ...(operators && { adminPort }), port: listener.port }, 'listening');
  health?.start({ ...gauges, jobsBusy: () => jobs.busy() }, options.jobs.jobs);

  async function drain(): Promise<void> {
    log.info({ requestsInFlight: permitsInUse(front.permits) }, 'stopping');
    door.phase = 'grace';
    // Others can go on with it at once. What fails here is told when it is waited for.
    for (const wing of wings) wing.giveBack?.().catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, config.stopGraceMs));
    door.phase = 'draining';
    for (const wing of wings) wing.drain?.();
    streams.sessions.failAll(() => new ServiceError('STOPPING'));
    stopWatching();
    listener.stopListening();
    if (await atMost(config.stopDrainMs, permitsDrained(front.permits))) return;
    const requestsInFlight = permitsInUse(front.permits);
    log.warn({ requestsInFlight }, 'cutting off requests at the drain deadline');
  }
  closers.add('requests in flight', drain, config.stopGraceMs + config.stopDrainMs + SETTLE_MS);

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
    stop: once(() => closers.close().then(() => log.info('stopped'))),
  };
}

/** Cut-off requests are recorded once their promises have settled, which may take a turn of the disk or the network. */
async function closeDoor({ door, permits }: Front, log: Logger): Promise<void> {
  if (!(await atMost(SETTLE_MS, permitsDrained(permits)))) {
    log.warn({ requestsInFlight: permitsInUse(permits) }, 'stopped before all requests were recorded');
  }
  door.close();
}
