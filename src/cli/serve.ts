// SPDX-License-Identifier: Apache-2.0
import type { Command } from 'commander';
import { loadConfig } from '../base/config/load-config.js';
import type { Config } from '../base/config/options.js';
import { createLog, type Logger } from '../base/observe/log.js';
import { startService } from '../service/service.js';
import { ParentLink } from '../service/supervision/parent-link.js';
import type { Database } from '../state/database/database.js';
import { openDatabase } from '../state/database/open-database.js';
import { KeyRegistry } from '../state/keys/key-registry.js';
import { actor } from '../state/records/admin-act.js';
import { databaseLeftBehind } from '../state/takeover/left-behind.js';
import { announcement, FirstStart } from './first-start.js';
import { followHangUps } from './hang-up.js';
import { followSignals, gracefulStop, openOwnState } from './running-service.js';
import { serveProcesses } from './serve-processes.js';
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
  const log = createLog(config);
  process.on('exit', log.closeNow);
  let firstStart: FirstStart | undefined;
  let database: Database;
  // The supervisor does this for all its processes.
  if (parent === undefined) {
    const own = await openOwnState(config, log.logger);
    database = own.database;
    firstStart = await prepareFirstStart(config, database, log.logger);
    if (config.processes > 0) {
      return serveProcesses({ config, log, hangUp, ...own, firstStart });
    }
  } else {
    database = await openDatabase(config);
  }
  const service = await startService({ config, log, parent, database });
  const waitMs = parent === undefined ? config.stopGraceMs + config.stopDrainMs : undefined;
  const stopGracefully = gracefulStop(service, log, waitMs);
  endOnUncaught(log, stopGracefully);
  if (parent !== undefined) {
    const stop = stopWithSupervisor(stopGracefully, log.logger);
    parent.follow({
      stop,
      renewTls: service.renewTls,
      reload: service.reloadModels,
      refuse: service.refuse,
      metrics: service.metrics,
    });
    parent.listening(service.isReady);
    return;
  }
  followSignals({ service, stopGracefully, hangUp, log });
  const firstKey = await firstStart?.createKey();
  if (firstKey !== undefined) service.note({ event: 'key_created', keyId: firstKey.id, ...actor() });
  log.print(announcement(config, service.port, firstKey, service.isReady));
}

/** No key is made if there are some in a database that somebody has forgotten to copy: then it still can be. */
async function prepareFirstStart(
  config: Config,
  database: Database,
  logger: Logger,
): Promise<FirstStart | undefined> {
  const registry = new KeyRegistry(database);
  const left = (await registry.isEmpty()) ? await databaseLeftBehind(config) : undefined;
  if (left === undefined) return FirstStart.prepare(registry, config.firstKeyFile);
  logger.warn(
    `${left} has API keys, but ${database.name} has none: stop the server and run veravox database copy, or make a key with veravox keys create`,
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
