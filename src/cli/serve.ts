// SPDX-License-Identifier: Apache-2.0
import type { Command } from 'commander';
import { loadConfig } from '../base/config/load-config.js';
import type { Config } from '../base/config/options.js';
import { shown } from '../base/errors/shown-text.js';
import { createLog, type Logger } from '../base/observe/log.js';
import { checkDescriptors } from '../service/descriptors-needed.js';
import { ParentLink } from '../service/supervision/parent-link.js';
import { openDatabase } from '../state/database/open-database.js';
import { KeyTable } from '../state/keys/key-table.js';
import { actor } from '../state/records/admin-act.js';
import { firstLinkNote } from './first-link.js';
import { announcement, FirstStart } from './first-start.js';
import { followHangUps } from './hang-up.js';
import { logWarnings } from './node-warnings.js';
import { followSignals, gracefulStop, type OwnState, openOwnState } from './running-service.js';
import { endOnUncaught } from './uncaught.js';

export function addServeCommand(program: Command): void {
  program
    .command('serve')
    .description('Run the server. Environment variables configure it: see docs/configuration.md.')
    .option('--port <number>', 'TCP port to listen on, instead of PORT; 0 picks a free one')
    .option('--host <address>', 'address to listen on, instead of HOST')
    .action(serve);
}

interface ServeOptions {
  readonly port?: string;
  readonly host?: string;
}

async function serve({ port, host }: ServeOptions): Promise<void> {
  const hangUp = followHangUps();
  const parent = ParentLink.open();
  const config = loadConfig({
    ...process.env,
    // A supervised process has the supervisor's command line, but gets its port from the supervisor.
    ...(port !== undefined && parent === undefined && { PORT: port }),
    ...(host !== undefined && { HOST: host }),
  });
  checkDescriptors(config);
  const log = createLog(config);
  process.on('exit', log.closeNow);
  logWarnings(log.logger);
  if (parent === undefined && config.processes > 0) {
    const { serveProcesses } = await import('./serve-processes.js');
    return serveProcesses({ config, log, hangUp, ...(await openForServer(config, log.logger)) });
  }
  const opening = parent === undefined ? openForServer(config, log.logger) : openForProcess(config);
  // The files of the service are read while the database opens.
  const [{ database, firstStart }, { startService }] = await Promise.all([
    opening,
    import('../service/service.js'),
  ]);
  const service = await startService({ config, log, parent, database });
  const waitMs = parent === undefined ? config.stopGraceMs + config.stopDrainMs : undefined;
  const stopGracefully = gracefulStop(service, log, waitMs);
  endOnUncaught(log, stopGracefully);
  if (parent !== undefined) {
    const stop = stopWithSupervisor(stopGracefully, log.logger);
    parent.follow({
      stop,
      renewSecrets: service.renewSecrets,
      reload: service.reloadModels,
      refuse: service.refuse,
      metrics: service.metrics,
      history: service.history,
    });
    parent.listening(service.isReady);
    return;
  }
  followSignals({ service, stopGracefully, hangUp, log });
  const firstKey = await firstStart?.createKey();
  if (firstKey !== undefined) service.note({ event: 'key_created', keyId: firstKey.id, ...actor() });
  const { port: servedPort, adminPort } = service;
  const isFirstStart = firstKey !== undefined;
  const link = await firstLinkNote({ config, database, port: servedPort, adminPort, isFirstStart });
  log.print(shown`${announcement(config, servedPort, firstKey, service.isReady)}${link}`);
}

/** The supervisor's work for all its processes. */
async function openForServer(config: Config, logger: Logger) {
  const own = await openOwnState(config, logger);
  return { ...own, firstStart: await prepareFirstStart(config, own, logger) };
}

async function openForProcess(config: Config) {
  return { database: await openDatabase(config), firstStart: undefined };
}

/** No key is made if there are some in a database that somebody forgot to copy. */
async function prepareFirstStart(
  config: Config,
  { database, leftBehind }: OwnState,
  logger: Logger,
): Promise<FirstStart | undefined> {
  if (leftBehind === undefined) return FirstStart.prepare(new KeyTable(database), config.firstKeyFile);
  logger.warn(
    `${leftBehind} has API keys, but ${database.name} has none: stop the server and run veravox database copy, or make a key with veravox keys create`,
  );
  return undefined;
}

/**
 * A terminal signals the whole group, so processes ignore Ctrl-C and follow the supervisor. SIGTERM to one process stops it
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
