// SPDX-License-Identifier: Apache-2.0
import type { PipelineStatus } from '../analysis/analyser/analyser.js';
import {
  ANSWERS_AT_START,
  type CheckedModels,
  checkedStatus,
  startChecked,
} from '../analysis/known-answers/checked-models.js';
import { differenceOf } from '../analysis/known-answers/known-answers.js';
import { ModelReload } from '../analysis/known-answers/model-reload.js';
import { UploadArena } from '../analysis/memory/arena.js';
import { aliasesOf } from '../analysis/pipeline/model-status.js';
import type { PipelineOptions } from '../analysis/pipeline/pipeline.js';
import { choiceIn, type ProviderChoice } from '../analysis/scoring/provider.js';
import { rateLimitOf } from '../api/admission/rate-limits.js';
import { type Addon, loadAddon } from '../base/addon/addon.js';
import { atMost } from '../base/at-most.js';
import { Closers } from '../base/closers.js';
import type { Config } from '../base/config/options.js';
import { packageVersion } from '../base/config/package-dir.js';
import type { Logger, ServiceLog } from '../base/observe/log.js';
import type { ServiceMetrics } from '../base/observe/service-metrics.js';
import { recordingsAtOnce } from '../jobs/work/job-places.js';
import type { Database } from '../state/database/database.js';
import { WatchedDatabase } from '../state/database/watched-database.js';
import { KeyCache } from '../state/keys/key-cache.js';
import { KeyTable } from '../state/keys/key-table.js';
import { OperatingPointTable } from '../state/operating-points/operating-point-table.js';
import type { OperatingPoints } from '../state/operating-points/operating-points.js';
import { ProfileTable } from '../state/operating-points/profile-table.js';
import { actor, noteAdminAct } from '../state/records/admin-act.js';
import type { AuditEvent } from '../state/records/audit-chain.js';
import { keepCrashNotes, openDeadlyInputs, SharedRefusals } from './crash-notes.js';
import { FollowedPoints } from './followed-points.js';
import { keepHeapTrimmed } from './heap-trimming.js';
import { openTracing } from './open-tracing.js';
import { openRatesOverHosts } from './rates-over-hosts.js';
import type { RunningServer } from './server-options.js';
import type { Orders, ParentLink } from './supervision/parent-link.js';
import { SharedInFlight, SharedRates } from './supervision/shared-limits.js';

export interface ServiceOptions {
  readonly config: Config;
  readonly log: ServiceLog;
  /** The supervisor, in one of several processes. */
  readonly parent: ParentLink | undefined;
  /** Closed with the service. */
  readonly database: Database;
  /** Works on jobs only, and takes no requests. */
  readonly isWorker?: boolean;
}

/** All that one process serves with. */
export interface Service extends Pick<Orders, 'renewSecrets' | 'refuse' | 'metrics' | 'history'> {
  readonly port: number;
  readonly adminPort: number | undefined;
  /** Whether the models gave their known answers at the start. */
  readonly isReady: boolean;
  /** Writes into the audit, if there is one. */
  note(event: AuditEvent): void;
  /** Loads models and operating points anew, beside those in use. */
  reloadModels(): void;
  /** Resolves when no request is in flight and everything has been written. */
  stop(): Promise<void>;
}

/**
 * Puts a server together from the configuration, and starts it.
 * @throws Error with the first reason; everything that was open is closed then
 */
export async function startService(options: ServiceOptions): Promise<Service> {
  const closers = new Closers(options.log.logger);
  try {
    return await openService(options, closers);
  } catch (error) {
    await closers.close();
    throw error;
  }
}

async function openService(options: ServiceOptions, closers: Closers): Promise<Service> {
  const { config, log, parent, isWorker = false } = options;
  const { logger } = log;
  const database = watched(options.database, config, logger);
  closers.add('database', () => database.close());
  const addon = loadAddon();
  const arena = createArena(config.maxInflightBytes, addon);
  closers.add('trimming of the heap', keepHeapTrimmed(addon, logger));
  const refusals = refuseDeadlyInputs(config, addon, logger, parent);
  const threads = new WatchedThreads(logger);
  const loadModels = (choice?: ProviderChoice): Promise<CheckedModels> =>
    startChecked(config, arena.buffer, ANSWERS_AT_START, {
      ...threads.told,
      refused: refusals.shared,
      recordings: recordingsAtOnce(config.jobWorkers),
      place: parent?.place,
      ...(choice && { choice }),
    });
  let server: RunningServer | undefined;
  const usePoints = (points: OperatingPoints): void => {
    try {
      server?.replaceOperatingPoints(points);
      logger.info({ operatingPoints: points.all.length }, 'operating points reloaded');
    } catch (error) {
      logger.error({ err: error }, 'operating points could not be reloaded; keeping the current ones');
    }
  };
  const [models, { keys, points }, parts] = await Promise.all([
    closers.opening('models', loadModels(), ({ analyser }) => analyser.close(), LOADING_LIMIT_MS),
    closers.opening('keys and points', followDatabase(database, logger, usePoints, closers)),
    closers.opening('parts of the server', loadServerParts(config, logger, database, isWorker, closers)),
  ]);
  const { metrics, files, tracing } = parts;
  threads.metrics = metrics;
  log.countDropped((lines) => metrics.logLinesDropped.inc(lines));
  const status = checkedStatus(models);
  tellOfModels(models, logger);
  warnOfUnusable(points.current, status, logger);
  // The supervisor counts for all its processes.
  const ratesOverHosts = parent === undefined ? openRatesOverHosts(config, database, logger) : undefined;
  closers.add('rates', () => ratesOverHosts?.close());
  const isFirst = parent?.isFirst ?? true;
  const records = parts.openServerRecords(config, logger, metrics, database, isFirst, closers);
  records.note({ event: 'server_started', ...actor(), version: packageVersion });
  const noteFirst = (event: AuditEvent): Promise<void> => noteAdminAct(config, event);
  const console = parts.consoleOf?.({ ...records, database, noteFirst }, logger, parent);
  closers.add('history and scores', () => console?.health.close());
  const operatingPoints = points.current;
  const started = await parts.start({
    ...{ config, closers, arena, keys, files, operatingPoints, metrics, tracing, console, ...models },
    log: logger,
    profiles: {
      table: new ProfileTable(database),
      refresh: () => points.refresh(),
      note: (event) => records.note(event),
    },
    databaseState: () => database.problem ?? (keys.isCurrent ? 'up' : 'unavailable'),
    jobs: parts.jobPartsOf(config, database, files.home),
    recorders: records.recorders,
    ...(ratesOverHosts && { rates: ratesOverHosts }),
    ...(parent && {
      rates: new SharedRates(rateLimitOf(config), parent),
      inFlightElsewhere: new SharedInFlight(parent),
    }),
    isPortShared: parent !== undefined,
  });
  server = started;
  // Points that were saved while it started.
  if (points.current !== operatingPoints) usePoints(points.current);
  if (parent !== undefined) metrics.gather = () => parent.metricsOfAll();
  const reload = new ModelReload({
    // On the device in use: whether there is CUDA has been found out.
    async start() {
      await points.refresh();
      return loadModels(choiceIn(status));
    },
    use(next) {
      started.replaceModels(next, points.current);
      warnOfUnusable(points.current, next.status(), logger);
    },
    onResult(result) {
      metrics.countReload(result);
      records.note({ event: 'models_reloaded', result, ...actor() });
      parent?.reloaded(result);
    },
    log: logger,
  });
  return {
    port: started.port,
    adminPort: started.adminPort,
    isReady: status.ready && (files.watch?.isUsable ?? true),
    note: (event) => records.note(event),
    reloadModels: () => reload.request(),
    renewSecrets() {
      try {
        started.renewTls();
      } catch (error) {
        logger.error({ err: error }, 'the certificate was not reloaded');
      }
      try {
        files.embedded?.renewCredentials();
      } catch (error) {
        logger.error({ err: error }, 'storage.json was not reloaded; keeping the current credentials');
      }
    },
    refuse: (sha256) => refusals.add(sha256),
    metrics: () => metrics.registry.getMetricsAsJSON(),
    history: (span) => console?.health.ownHistory(span),
    async stop() {
      records.note({ event: 'server_stopping', ...actor() });
      await Promise.all([atMost(LOADING_LIMIT_MS, reload.close()), started.stop()]);
    },
  };
}

/** Models may load for minutes; what closes them waits. */
const LOADING_LIMIT_MS = 300_000;

/** Tells the log and the metrics of threads and devices. */
class WatchedThreads {
  /** Loaded while the threads start. */
  metrics: ServiceMetrics | undefined;
  readonly told: Pick<PipelineOptions, 'onThreadError' | 'scoring'>;

  constructor(logger: Logger) {
    this.told = {
      onThreadError: (pool, error) => {
        logger.error({ err: error, pool }, 'an idle thread died: replacing it');
        this.metrics?.countThreadFailure(pool);
      },
      scoring: {
        onBatch: (batch) => this.metrics?.devices.count(batch),
        onChange({ name: device, isWorking, problem }) {
          if (isWorking) logger.warn({ device }, 'a device works again');
          else
            logger.error(
              { device, problem },
              'a device failed: its work goes to others, and it is tried again',
            );
        },
      },
    };
  }
}

function watched(database: Database, { dataDir }: Config, logger: Logger): WatchedDatabase {
  return new WatchedDatabase(database, {
    dataDir,
    onChange(problem) {
      if (problem === undefined) logger.warn('the database can be written again');
      else logger.error({ problem }, 'the database cannot be written: not ready until it can');
    },
  });
}

/** Their files are read while other threads load the models. */
async function loadServerParts(
  config: Config,
  log: Logger,
  database: Database,
  isWorker: boolean,
  closers: Closers,
) {
  const { ServiceMetrics } = await import('../base/observe/service-metrics.js');
  const start = isWorker
    ? (await import('./worker.js')).startWorker
    : (await import('./server.js')).startServer;
  const { openServerRecords } = await import('./server-records.js');
  const { jobPartsOf } = await import('../jobs/queue/job-parts.js');
  const { openStorage } = await import('../state/storage/open-storage.js');
  const { consoleOf = undefined } =
    config.dashboard === 'on' ? await import('../console/console-wing.js') : {};
  const metrics = new ServiceMetrics();
  const tracing = await openTracing(config, metrics, log);
  closers.add('traces', () => tracing?.close());
  const files = await openStorage(config, { database, log });
  closers.add('files', () => files.storage.close());
  closers.add('watch over the bucket', () => files.watch?.close());
  await files.watch?.start();
  return {
    start,
    openServerRecords,
    jobPartsOf,
    consoleOf,
    metrics,
    tracing,
    files,
  };
}

/** Requests' view of the database. @throws DatabaseError, Error that names a damaged point */
async function followDatabase(
  database: Database,
  logger: Logger,
  usePoints: (points: OperatingPoints) => void,
  closers: Closers,
): Promise<{ readonly keys: KeyCache; readonly points: FollowedPoints }> {
  const keys = await KeyCache.open(new KeyTable(database), {
    onReloadError: (error) => logger.error({ err: error }, 'API keys could not be reloaded'),
  });
  closers.add('keys', () => keys.close());
  const points = await FollowedPoints.open(new OperatingPointTable(database), {
    onChange: usePoints,
    onError: (error) => logger.error({ err: error }, 'operating points could not be reloaded'),
    onDamaged: (error) => logger.error({ err: error }, 'a profile cannot be used'),
  });
  closers.add('operating points', () => points.close());
  return { keys, points };
}

function tellOfModels({ analyser, wrongAnswers }: CheckedModels, logger: Logger): void {
  const status = analyser.status();
  const { provider, adapter, fallbackReason, scoring, leftOut, models, speakerModels, sandboxFailure } =
    status;
  if (sandboxFailure !== undefined) {
    logger.warn({ sandboxFailure }, 'decoder threads run without a system call filter');
  }
  const speakers = speakerModels.map((model) => model.id);
  const aliases = aliasesOf(status);
  const devices = scoring?.devices.map(({ name }) => name);
  if (leftOut !== undefined) logger.warn({ leftOut }, 'GPUs that cannot be opened are left out');
  if (adapter?.isSoftware) logger.warn({ adapter }, 'WebGPU runs on software, which is slower than the CPU');
  logger.info(
    { provider, adapter: adapter?.name, fallbackReason, devices, models, aliases, speakerModels: speakers },
    'models loaded',
  );
  for (const check of wrongAnswers) {
    logger.error({ ...check, difference: differenceOf(check) }, 'a known-answer check failed: not ready');
  }
}

/** They are answered with 400; the operator should know it first. */
function warnOfUnusable(points: OperatingPoints, status: PipelineStatus, logger: Logger): void {
  for (const { name, model, why } of points.unusable([...status.detectors, ...status.speakerModels])) {
    logger.warn({ operatingPoint: name, model, why }, 'operating point cannot be used');
  }
}

/** Inputs that crashed a process, also those of this one. */
function refuseDeadlyInputs(
  config: Config,
  addon: Addon,
  logger: Logger,
  parent: ParentLink | undefined,
): SharedRefusals {
  const refusals = new SharedRefusals();
  const deadlyInputs = openDeadlyInputs(config.dataDir, logger, parent === undefined);
  if (deadlyInputs === undefined) return refusals;
  refusals.add(deadlyInputs.refused);
  keepCrashNotes(deadlyInputs.notesFileOf(process.pid), addon, logger);
  return refusals;
}

function createArena(bytes: number, addon: Addon): UploadArena {
  const arena: UploadArena = new UploadArena(bytes, (offset, length) =>
    addon.releasePages(arena.bytes.subarray(offset, offset + length)),
  );
  return arena;
}
