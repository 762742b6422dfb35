// SPDX-License-Identifier: Apache-2.0
//
// The common part of the commands that run until they are told to stop.
import { isatty } from 'node:tty';
import type { Config } from '../base/config/options.js';
import { unknownVariables } from '../base/config/unknown-variables.js';
import { shown } from '../base/errors/shown-text.js';
import type { Logger, ServiceLog } from '../base/observe/log.js';
import type { Service } from '../service/service.js';
import { ownDataFolder } from '../state/data-folder/data-folder.js';
import type { Database } from '../state/database/database.js';
import { openDatabase } from '../state/database/open-database.js';
import { KeyTable } from '../state/keys/key-table.js';
import { addUnsentUsage } from '../state/records/unsent-usage.js';
import { UsageTable } from '../state/records/usage-table.js';
import type { HangUps } from './hang-up.js';
import { databaseLeftBehind } from './left-behind.js';
import { onStopSignals } from './stop-signals.js';

export interface OwnState {
  readonly lockDescriptor: number;
  readonly database: Database;
  /** The file of a database that somebody forgot to copy; it still can be. */
  readonly leftBehind: string | undefined;
}

/**
 * The data folder, of which this process is the only owner from now on, and the database.
 * @throws DataFolderInUse, IncompleteRestore, EarlierDataFolder, DatabaseError
 */
export async function openOwnState(config: Config, logger: Logger): Promise<OwnState> {
  for (const { variable } of unknownVariables(process.env)) {
    logger.warn({ variable }, 'unknown setting, ignored');
  }
  const { lockDescriptor } = await ownDataFolder(config.dataDir);
  logger.info({ dataDir: config.dataDir }, 'data folder');
  const database = await openDatabase(config);
  try {
    const isUnused = await new KeyTable(database).isEmpty();
    const leftBehind = isUnused ? await databaseLeftBehind(config) : undefined;
    // Otherwise they belong to that one, and the copy takes them.
    if (leftBehind === undefined) {
      await addUnsentUsage(config.dataDir, new UsageTable(database), (error) =>
        logger.error({ err: error }, 'counts are not in the database'),
      );
    }
    return { lockDescriptor, database, leftBehind };
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** @param waitMs the longest that it takes, for people at a terminal; by default nobody is told */
export function gracefulStop(
  service: Service,
  log: ServiceLog,
  waitMs: number | undefined,
): () => Promise<void> {
  const isTerminalLog = isatty(1);
  return async () => {
    // People press Ctrl-C again if the first one seems to do nothing.
    if (isTerminalLog && waitMs !== undefined)
      log.print(
        shown`Stopping within ${Math.ceil(waitMs / 1000)} s. Press Ctrl-C again to stop immediately.\n`,
      );
    await service.stop();
    await log.close();
  };
}

/** Signals to stop end the process gracefully; SIGHUP reloads secrets and models, or tells that the terminal has gone. */
export function followSignals({
  service,
  stopGracefully,
  hangUp,
  log,
}: {
  readonly service: Service;
  readonly stopGracefully: () => Promise<void>;
  readonly hangUp: HangUps;
  readonly log: ServiceLog;
}): void {
  // Asked now: later the terminal may have gone.
  const isTerminalLog = isatty(1);
  const stop = stopOnSignal(stopGracefully, log);
  hangUp.follow((isTerminalGone) => {
    if (!isTerminalGone) {
      service.renewSecrets();
      service.reloadModels();
      return;
    }
    if (isTerminalLog) log.discard();
    stop('SIGHUP');
  });
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
