// SPDX-License-Identifier: Apache-2.0
import { isatty } from 'node:tty';
import type { Command } from 'commander';
import { hintOfOtherDataDir } from '../base/config/data-dir.js';
import { loadConfig } from '../base/config/load-config.js';
import { unknownVariables } from '../base/config/unknown-variables.js';
import { createLog, type Logger, type ServiceLog } from '../base/observe/log.js';
import { startService } from '../service/service.js';
import { ParentLink } from '../service/supervision/parent-link.js';
import { ownDataFolder } from '../state/data-folder/data-folder.js';
import type { Database } from '../state/database/database.js';
import { openDatabase } from '../state/database/open-database.js';
import { KeyRegistry } from '../state/keys/key-registry.js';
import { actor } from '../state/records/admin-act.js';
import { openState } from '../state/takeover/open-state.js';
import { announcement, FirstStart } from './first-start.js';
import { followHangUps } from './hang-up.js';
import { serveProcesses } from './serve-processes.js';
import { onStopSignals } from './stop-signals.js';
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
  const isTerminalLog = isatty(1);
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
    for (const { variable } of unknownVariables(process.env)) {
      log.logger.warn({ variable }, 'unknown setting, ignored');
    }
    const { lockDescriptor } = await ownDataFolder(config.dataDir);
    log.logger.info({ dataDir: config.dataDir }, 'data folder');
    const hint = hintOfOtherDataDir(config.dataDir);
    if (hint !== undefined) log.logger.warn(hint);
    database = await openState(config, true, (error) =>
      log.logger.error({ err: error }, 'counts are not in the database'),
    );
    firstStart = await FirstStart.prepare(new KeyRegistry(database), config.firstKeyFile);
    if (config.processes > 0) {
      return serveProcesses({ config, log, hangUp, lockDescriptor, database, firstStart });
    }
  } else {
    database = await openDatabase(config);
  }
  const service = await startService({ config, log, parent, database });
  const stopGracefully = async (): Promise<void> => {
    // People press Ctrl-C again if the first one seems to do nothing.
    const waitS = Math.ceil((config.stopGraceMs + config.stopDrainMs) / 1000);
    if (isTerminalLog && parent === undefined)
      log.print(`Stopping within ${waitS} s. Press Ctrl-C again to stop immediately.\n`);
    await service.stop();
    await log.close();
  };
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
  const stop = stopOnSignal(stopGracefully, log);
  hangUp.follow((isTerminalGone) => {
    if (!isTerminalGone) {
      service.renewTls();
      service.reloadModels();
      return;
    }
    if (isTerminalLog) log.discard();
    stop('SIGHUP');
  });
  const firstKey = await firstStart?.createKey();
  if (firstKey !== undefined) service.note({ event: 'key_created', keyId: firstKey.id, ...actor() });
  log.print(announcement(config, service.port, firstKey, service.isReady));
}

/** Ends as without a handler. If Node exits by itself, it aborts when it tries to reset a terminal that is gone. */
function endBy(signal: NodeJS.Signals, log: ServiceLog): void {
  log.closeNow();
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
}

/** The first signal starts a graceful stop, the second ends the process immediately. */
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
