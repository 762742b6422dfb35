// SPDX-License-Identifier: Apache-2.0
import { ModelRotation } from '../analysis/served/model-rotation.js';
import { ServedModels } from '../analysis/served/served-models.js';
import { ExpectedWait } from '../api/admission/expected-wait.js';
import { KeyConcurrency } from '../api/admission/key-concurrency.js';
import { MemoryBudget } from '../api/admission/memory-budget.js';
import { openPermitPools } from '../api/admission/permit-pools.js';
import { RateLimits, rateLimitOf } from '../api/admission/rate-limits.js';
import { linkPolicy } from '../api/fetch/fetch-policy.js';
import { AnswerLimits } from '../api/http/answer-limits.js';
import { ClientAddresses } from '../api/http/client-address.js';
import { Cors } from '../api/http/cors.js';
import { FrontDoor } from '../api/http/front-door.js';
import { type Listener, listen } from '../api/http/listener.js';
import { healthRoutes } from '../api/routes/health.js';
import { metricsRoute } from '../api/routes/metrics.js';
import { EndedRequests } from '../base/observe/ended-requests.js';
import { once } from '../base/once.js';
import { openJobsWing } from '../jobs/jobs-wing.js';
import { modelGauges } from './model-gauges.js';
import type { RunningServer, ServerOptions } from './server-options.js';

const nothing = (): number => 0;

/**
 * Works on jobs and takes no requests; only operators get answers about health, on the admin address.
 * @throws Error when that address is taken
 */
export async function startWorker(options: ServerOptions): Promise<RunningServer> {
  const { config, closers, files, log, metrics, recorders, jobs: jobParts, databaseState } = options;
  const health = options.console?.health;
  // No page shows a worker's history.
  const ended = new EndedRequests({ metrics, log, recorders, history: undefined });
  const models = new ModelRotation(new ServedModels(options.analyser, health, options.wrongAnswers), log);
  closers.add('models in use', () => models.close());
  const door = operatorsDoor(options);
  const isStopping = (): boolean => door.phase !== 'running';
  const status = () => models.status();
  metrics.declareGauges({
    ...modelGauges(models, { isStopping, databaseState, files }),
    requestsInFlight: nothing,
    transfersInFlight: nothing,
    eventStreams: nothing,
    streams: nothing,
    streamsAway: nothing,
    expectedWaitS: nothing,
    connections: nothing,
    heldAnswerBytes: nothing,
    uploadsWaiting: nothing,
    clientMemoryBytes: nothing,
    arenaUsedBytes: nothing,
    arenaTotalBytes: nothing,
  });
  const routes = [...healthRoutes(status, { isStopping, databaseState, files }), metricsRoute(metrics)];
  door.serve([], routes);
  const admin: Listener | undefined =
    config.adminAddress && (await listen({ ...config.adminAddress, handle: door.handleAdmin }));
  closers.add('listener for operators', () => admin?.close());
  const policy = linkPolicy(
    config,
    () => files.storage.linkPrefixes(0),
    (url) => files.storage.isOwnLink(url),
  );
  const wing = openJobsWing({
    ...{ config, files, models, metrics, ended, log, policy, jobParts },
    tracing: options.tracing,
    fetchSurroundings: options.fetchSurroundings,
  });
  wing.start();
  closers.add('work', () => wing.giveBack());
  closers.add('readiness', () => {
    door.phase = 'draining';
    log.info('stopping');
  });
  log.info({ workers: config.jobWorkers, ...(admin && { adminPort: admin.port }) }, 'working on jobs');

  return {
    stop: once(() => closers.close().then(() => log.info('stopped'))),
    routes,
    // Jobs have their thresholds as numbers.
    replaceOperatingPoints() {},
    port: admin?.port ?? 0,
    adminPort: admin?.port,
    replaceModels(analyser) {
      if (isStopping()) throw new Error('The worker is stopping.');
      models.replace(new ServedModels(analyser, health));
      wing.takeAnew();
    },
    renewTls() {},
  };
}

/** For routes without keys and bodies, on the admin address. */
function operatorsDoor({ config, log, metrics }: ServerOptions): FrontDoor {
  const timeoutMs = config.receiveTimeoutMs;
  const expectedWait = new ExpectedWait({ targetMs: config.maxWaitMs, parallel: config.scoringThreads });
  return new FrontDoor({
    keys: { authenticate: () => undefined, find: () => undefined, lookUp: () => undefined },
    permits: openPermitPools(config, expectedWait),
    expectedWait,
    rates: new RateLimits(rateLimitOf(config)),
    concurrency: new KeyConcurrency(0),
    ended: new EndedRequests({ metrics, log, recorders: [], history: undefined }),
    addresses: new ClientAddresses(config.trustedProxies),
    answers: new AnswerLimits({
      maxBytes: config.maxAnswerBytes,
      timeoutMs,
      onClose: (reason) => metrics.countClosed(reason),
    }),
    memory: new MemoryBudget(config.maxInflightBytes),
    cors: new Cors([]),
    sendTimeoutMs: timeoutMs,
  });
}
