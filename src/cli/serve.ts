// SPDX-License-Identifier: Apache-2.0
import { isatty } from 'node:tty';
import type { Command } from 'commander';
import { type Addon, loadAddon } from '../addon/addon.js';
import type { Config } from '../config/config.js';
import { hintOfOtherDataDir } from '../config/data-dir.js';
import { loadConfig, unknownVariables } from '../config/load-config.js';
import { packageVersion } from '../config/package-dir.js';
import type { RunningServer } from '../http/server.js';
import { KeyStore } from '../keys/key-store.js';
import { actor } from '../metering/admin-act.js';
import type { AuditEvent } from '../metering/audit-chain.js';
import { AuditLog } from '../metering/audit-log.js';
import { Retention } from '../metering/retention.js';
import { UsageMeter } from '../metering/usage-meter.js';
import { createLog, type Logger, type ServiceLog } from '../observe/log.js';
import type { RequestRecorder } from '../observe/request-record.js';
import type { ServiceMetrics } from '../observe/service-metrics.js';
import { OperatingPoints } from '../operating-points/operating-points.js';
import type { Analyser, PipelineStatus } from '../pipeline/analysis.js';
import { differenceOf } from '../pipeline/known-answers.js';
import { ModelReload } from '../pipeline/model-reload.js';
import { startPipeline } from '../pipeline/pipeline.js';
import { ownDataFolder } from '../state/data-folder.js';
import { UploadArena } from '../upload/arena.js';
import { announce, createFirstKey } from './first-start.js';
import { followHangUps } from './hang-up.js';

export function addServeCommand(program: Command): void {
  program
    .command('serve')
    .description('Run the server. Everything is set by environment variables: see the README.')
    .action(serve);
}

async function serve(): Promise<void> {
  const hangUp = followHangUps();
  const isTerminalLog = isatty(1);
  const config = loadConfig(process.env);
  const log = createLog(config.logLevel);
  process.on('exit', log.flush);
  for (const variable of unknownVariables(process.env)) {
    log.logger.warn({ variable }, 'unknown setting, ignored');
  }
  await ownDataFolder(config.dataDir);
  log.logger.info({ dataDir: config.dataDir }, 'data folder');
  const hint = hintOfOtherDataDir(config.dataDir);
  if (hint !== undefined) log.logger.warn(hint);
  const firstKey = createFirstKey(config.dataDir);
  const keys = new KeyStore(config.dataDir, {
    onReloadError: (error) => log.logger.error({ err: error }, 'API keys could not be read again'),
  });
  const operatingPoints = OperatingPoints.load(config.dataDir);
  const arena = createArena(config.maxInflightBytes, loadAddon());
  const loading = startPipeline(config, arena.buffer, { answersPerModel });
  // While other threads load the models.
  const parts = loadServerParts(config);
  const [analyser, { startServer, metrics, files }] = await bothOrNone(loading, parts);
  const { ready, wrongAnswers, provider, fallbackReason, models, speakerModels } = analyser.status();
  const speakers = speakerModels.map((model) => model.id);
  log.logger.info({ provider, fallbackReason, models, speakerModels: speakers }, 'models are warm');
  warnOfUnusable(operatingPoints, analyser.status(), log.logger);
  for (const check of wrongAnswers) {
    log.logger.error(
      { ...check, difference: differenceOf(check) },
      'a known answer does not hold: not ready',
    );
  }
  let server: RunningServer;
  const books = openBooks(config, log.logger, metrics);
  books.note({ event: 'server_started', ...actor(), version: packageVersion });
  if (firstKey !== undefined) books.note({ event: 'key_created', keyId: firstKey.key.id, ...actor() });
  try {
    server = await startServer({
      config,
      analyser,
      arena,
      keys,
      files,
      operatingPoints,
      log: log.logger,
      metrics,
      recorders: books.recorders,
    });
  } catch (error) {
    await analyser.close();
    throw error;
  }
  const choice = { provider, ...(fallbackReason !== undefined && { fallbackReason }) };
  const reload = new ModelReload({
    // On what runs the models now: whether there is CUDA has been found out.
    start: () => startPipeline(config, arena.buffer, { answersPerModel, choice }),
    use(next) {
      const points = OperatingPoints.load(config.dataDir);
      server.replaceModels(next, points);
      warnOfUnusable(points, next.status(), log.logger);
    },
    onResult(result) {
      metrics.countReload(result);
      books.note({ event: 'models_reloaded', result, ...actor() });
    },
    log: log.logger,
  });
  const stop = stopOnSignal(async () => {
    books.note({ event: 'server_stopping', ...actor() });
    await Promise.all([reload.close(), server.stop()]);
  }, log);
  hangUp.follow((isTerminalGone) => {
    if (!isTerminalGone) {
      reload.request();
      return;
    }
    if (isTerminalLog) log.discard();
    void stop('SIGHUP');
  });
  log.flush();
  announce(config, server.port, firstKey?.text, ready);
}

async function loadServerParts(config: Config) {
  const { startServer } = await import('../http/server.js');
  const { ServiceMetrics } = await import('../observe/service-metrics.js');
  const { openStorage } = await import('../storage/open-storage.js');
  return { startServer, metrics: new ServiceMetrics(), files: await openStorage(config) };
}

/** Threads that were started keep the process from ending, also where the rest failed. */
async function bothOrNone<Parts>(
  loading: Promise<Analyser>,
  parts: Promise<Parts>,
): Promise<[Analyser, Parts]> {
  try {
    return await Promise.all([loading, parts]);
  } catch (error) {
    await loading.then(
      (analyser) => analyser.close(),
      () => {},
    );
    throw error;
  }
}

/** They are answered with 400; whoever runs the server should know it first. */
function warnOfUnusable(points: OperatingPoints, status: PipelineStatus, logger: Logger): void {
  for (const { name, model, why } of points.unusable([...status.detectors, ...status.speakerModels])) {
    logger.warn({ operatingPoint: name, model, why }, 'operating point cannot be used');
  }
}

interface Books {
  readonly recorders: readonly RequestRecorder[];
  /** Writes an event into the audit, where there is one. */
  note(event: AuditEvent): void;
}

/** What notes who did what and how much, and removes it when its time is over. */
function openBooks(config: Config, logger: Logger, metrics: ServiceMetrics): Books {
  const usage = new UsageMeter(config.dataDir, {
    onError: (error) => logger.error({ err: error }, 'usage could not be written; it is kept in memory'),
  });
  const audit =
    config.audit === 'off'
      ? undefined
      : new AuditLog(config.dataDir, {
          sync: config.auditSync,
          onError: (error) =>
            logger.error({ err: error }, 'audit lines could not be written; they wait in memory'),
          onLost: () => metrics.auditLinesLost.inc(),
        });
  const note = (event: AuditEvent): void => audit?.note(event);
  const retention = new Retention(config.dataDir, {
    auditDays: config.auditDays,
    usageDays: config.usageDays,
    onRemoved(event) {
      logger.info(event, 'removed what has been kept for its time');
      note(event);
    },
    onError: (error) => logger.error({ err: error }, 'old data could not be removed; it is tried again'),
  });
  const cleaner: RequestRecorder = { record: () => {}, close: () => retention.close() };
  // In this order they are closed.
  return { recorders: [cleaner, usage, ...(audit ? [audit] : [])], note };
}

function createArena(bytes: number, addon: Addon): UploadArena {
  const arena: UploadArena = new UploadArena(bytes, (offset, length) =>
    addon.releasePages(arena.bytes.subarray(offset, offset + length)),
  );
  return arena;
}

/** As without a handler. On its way out by itself, Node aborts where the terminal is gone that it wants to put in order. */
function endBy(signal: NodeJS.Signals, log: ServiceLog): void {
  log.flush();
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
}

// Known answers of each model that have to hold before requests are answered.
const answersPerModel = 1;

// Ctrl-C under `npm start` sends two: the terminal signals the whole group, and npm passes its own on.
const sameSignalMs = 500;

/** The first signal starts a graceful stop, one more ends the process at once. */
function stopOnSignal(stopGracefully: () => Promise<void>, log: ServiceLog) {
  let firstMs: number | undefined;
  const stop = async (signal: NodeJS.Signals): Promise<void> => {
    if (firstMs !== undefined) {
      if (performance.now() - firstMs > sameSignalMs) process.exit(1);
      return;
    }
    firstMs = performance.now();
    log.logger.info({ signal }, 'stop requested');
    await stopGracefully();
    if (signal === 'SIGHUP') endBy(signal, log);
    else process.exit(0);
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  return stop;
}
