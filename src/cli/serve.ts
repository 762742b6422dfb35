// SPDX-License-Identifier: Apache-2.0
import { isatty } from 'node:tty';
import type { Command } from 'commander';
import { type Addon, loadAddon } from '../addon/addon.js';
import { rateLimitOf } from '../admission/rate-limits.js';
import type { Config } from '../config/config.js';
import { hintOfOtherDataDir } from '../config/data-dir.js';
import { loadConfig } from '../config/load-config.js';
import { packageVersion } from '../config/package-dir.js';
import { unknownVariables } from '../config/unknown-variables.js';
import type { RunningServer } from '../http/server.js';
import { KeyStore } from '../keys/key-store.js';
import { actor } from '../metering/admin-act.js';
import { createLog, type Logger, type ServiceLog } from '../observe/log.js';
import type { ServiceMetrics } from '../observe/service-metrics.js';
import { OperatingPoints } from '../operating-points/operating-points.js';
import type { Analyser, PipelineStatus } from '../pipeline/analysis.js';
import { differenceOf } from '../pipeline/known-answers.js';
import { ModelReload } from '../pipeline/model-reload.js';
import { type PipelineOptions, startPipeline } from '../pipeline/pipeline.js';
import { ownDataFolder } from '../state/data-folder.js';
import { ParentLink } from '../supervision/parent-link.js';
import { SharedInFlight, SharedRates } from '../supervision/shared-limits.js';
import { UploadArena } from '../upload/arena.js';
import { keepCrashNotes, openDeadlyInputs, SharedRefusals } from './crash-notes.js';
import { announcement, createFirstKey, type FirstKey } from './first-start.js';
import { followHangUps } from './hang-up.js';
import { serveProcesses } from './serve-processes.js';
import { openBooks } from './server-books.js';
import { onStopSignals } from './stop-signals.js';
import { endOnUncaught } from './uncaught.js';

export function addServeCommand(program: Command): void {
  program
    .command('serve')
    .description('Run the server. Everything is set by environment variables: see the README.')
    .option('--port <number>', 'TCP port to listen on, instead of PORT; 0 takes a free one')
    .option('--host <address>', 'address to listen on, instead of HOST')
    .action(serve);
}

interface ServeOptions {
  readonly port?: string;
  readonly host?: string;
}

async function serve({ port, host }: ServeOptions): Promise<void> {
  const hangUp = followHangUps();
  const isTerminalLog = isatty(1);
  const parent = ParentLink.open();
  const config = loadConfig({
    ...process.env,
    // One of several processes has the same command line, and its port from the supervisor.
    ...(port !== undefined && parent === undefined && { PORT: port }),
    ...(host !== undefined && { HOST: host }),
  });
  const log = createLog(config);
  process.on('exit', log.closeNow);
  let firstKey: FirstKey | undefined;
  // Of several processes, the supervisor does this for all.
  if (parent === undefined) {
    for (const { variable } of unknownVariables(process.env)) {
      log.logger.warn({ variable }, 'unknown setting, ignored');
    }
    const { lockDescriptor } = await ownDataFolder(config.dataDir);
    log.logger.info({ dataDir: config.dataDir }, 'data folder');
    const hint = hintOfOtherDataDir(config.dataDir);
    if (hint !== undefined) log.logger.warn(hint);
    firstKey = createFirstKey(config.dataDir, config.firstKeyFile);
    if (config.processes > 0) return serveProcesses({ config, log, hangUp, lockDescriptor, firstKey });
  }
  const keys = new KeyStore(config.dataDir, {
    onReloadError: (error) => log.logger.error({ err: error }, 'API keys could not be read again'),
  });
  const operatingPoints = OperatingPoints.load(config.dataDir);
  const addon = loadAddon();
  const arena = createArena(config.maxInflightBytes, addon);
  const refusals = new SharedRefusals();
  const deadlyInputs = openDeadlyInputs(config.dataDir, log.logger, parent === undefined);
  refusals.add(deadlyInputs?.refused ?? []);
  if (deadlyInputs !== undefined) {
    keepCrashNotes(deadlyInputs.notesFileOf(process.pid), addon, log.logger);
  }
  let countThreadFailure: ServiceMetrics['countThreadFailure'] | undefined;
  const pipelineOptions: PipelineOptions = {
    answersPerModel,
    refused: refusals.shared,
    onThreadError(pool, error) {
      log.logger.error({ err: error, pool }, 'an idle thread has died; it is replaced');
      countThreadFailure?.(pool);
    },
  };
  const loading = startPipeline(config, arena.buffer, pipelineOptions);
  // While other threads load the models.
  const parts = loadServerParts(config);
  const [analyser, { startServer, metrics, files }] = await bothOrNone(loading, parts);
  countThreadFailure = (pool) => metrics.countThreadFailure(pool);
  log.countDropped((lines) => metrics.logLinesDropped.inc(lines));
  const { ready, wrongAnswers, provider, fallbackReason, models, speakerModels, sandboxFailure } =
    analyser.status();
  if (sandboxFailure !== undefined) {
    log.logger.warn({ sandboxFailure }, 'decoder threads run without a filter of system calls');
  }
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
  const books = openBooks(config, log.logger, metrics, parent?.isFirst ?? true);
  books.note({ event: 'server_started', ...actor(), version: packageVersion });
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
      ...(parent && {
        rates: new SharedRates(rateLimitOf(config), parent),
        inFlightElsewhere: new SharedInFlight(parent),
      }),
      isPortShared: parent !== undefined,
    });
  } catch (error) {
    await analyser.close();
    throw error;
  }
  if (firstKey !== undefined) books.note({ event: 'key_created', keyId: firstKey.key.id, ...actor() });
  const choice = { provider, ...(fallbackReason !== undefined && { fallbackReason }) };
  const reload = new ModelReload({
    // On what runs the models now: whether there is CUDA has been found out.
    start: () => startPipeline(config, arena.buffer, { ...pipelineOptions, choice }),
    use(next) {
      const points = OperatingPoints.load(config.dataDir);
      server.replaceModels(next, points);
      warnOfUnusable(points, next.status(), log.logger);
    },
    onResult(result) {
      metrics.countReload(result);
      books.note({ event: 'models_reloaded', result, ...actor() });
      parent?.reloaded(result);
    },
    log: log.logger,
  });
  const stopGracefully = async (): Promise<void> => {
    books.note({ event: 'server_stopping', ...actor() });
    // A second Ctrl-C is what people try when the first seems to do nothing.
    const waitS = Math.ceil((config.stopGraceMs + config.stopDrainMs) / 1000);
    if (isTerminalLog && parent === undefined)
      log.print(`Stopping, within ${waitS} s. Ctrl-C once more ends the server at once.\n`);
    await Promise.all([reload.close(), server.stop()]);
    await log.close();
  };
  endOnUncaught(log, stopGracefully);
  if (parent !== undefined) {
    const stop = stopWithSupervisor(stopGracefully, log.logger);
    parent.follow({
      stop,
      renewTls: () => renewTls(server, log.logger),
      reload: () => reload.request(),
      refuse: (sha256) => refusals.add(sha256),
      metrics: () => metrics.registry.getMetricsAsJSON(),
    });
    metrics.gather = () => parent.metricsOfAll();
    parent.listening(ready);
    return;
  }
  const stop = stopOnSignal(stopGracefully, log);
  hangUp.follow((isTerminalGone) => {
    if (!isTerminalGone) {
      renewTls(server, log.logger);
      reload.request();
      return;
    }
    if (isTerminalLog) log.discard();
    stop('SIGHUP');
  });
  log.print(announcement(config, server.port, firstKey, ready));
  firstKey?.shown();
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

function renewTls(server: RunningServer, logger: Logger): void {
  try {
    server.renewTls();
  } catch (error) {
    logger.error({ err: error }, 'the certificate was not renewed');
  }
}

/** They are answered with 400; whoever runs the server should know it first. */
function warnOfUnusable(points: OperatingPoints, status: PipelineStatus, logger: Logger): void {
  for (const { name, model, why } of points.unusable([...status.detectors, ...status.speakerModels])) {
    logger.warn({ operatingPoint: name, model, why }, 'operating point cannot be used');
  }
}

function createArena(bytes: number, addon: Addon): UploadArena {
  const arena: UploadArena = new UploadArena(bytes, (offset, length) =>
    addon.releasePages(arena.bytes.subarray(offset, offset + length)),
  );
  return arena;
}

/** As without a handler. On its way out by itself, Node aborts where the terminal is gone that it wants to put in order. */
function endBy(signal: NodeJS.Signals, log: ServiceLog): void {
  log.closeNow();
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
}

// Known answers of each model that have to hold before requests are answered.
const answersPerModel = 1;

/** The first signal starts a graceful stop, one more ends the process at once. */
function stopOnSignal(stopGracefully: () => Promise<void>, log: ServiceLog) {
  return onStopSignals(
    (signal) => {
      log.logger.info({ signal }, 'stop requested');
      void stopGracefully().then(() => {
        if (signal === 'SIGHUP') endBy(signal, log);
        else process.exit(0);
      });
    },
    () => process.exit(1),
  );
}

/**
 * A terminal signals the whole group: of Ctrl-C the supervisor tells its processes. SIGTERM to a process alone stops it
 * gracefully, and the supervisor starts another.
 */
function stopWithSupervisor(stopGracefully: () => Promise<void>, logger: Logger): () => void {
  let isStopping = false;
  const stop = (): void => {
    if (isStopping) return;
    isStopping = true;
    logger.info('stop requested');
    void stopGracefully().then(() => process.exit(0));
  };
  process.on('SIGINT', () => {});
  process.on('SIGTERM', stop);
  return stop;
}
