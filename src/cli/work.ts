// SPDX-License-Identifier: Apache-2.0
import type { Command } from 'commander';
import { loadConfig } from '../base/config/load-config.js';
import type { Config } from '../base/config/options.js';
import { shown } from '../base/errors/shown-text.js';
import { createLog } from '../base/observe/log.js';
import { checkDescriptors } from '../service/descriptors-needed.js';
import { followHangUps } from './hang-up.js';
import { logWarnings } from './node-warnings.js';
import { followSignals, gracefulStop, openOwnState } from './running-service.js';
import { endOnUncaught } from './uncaught.js';

export function addWorkCommand(program: Command): void {
  program
    .command('work')
    .description(
      'Run the jobs of servers with the same PostgreSQL database and bucket, without serving requests: see docs/jobs.md.',
    )
    .action(work);
}

/** @throws Error that names the setting */
function checkSettings({ database, storageBucket, jobWorkers }: Config): void {
  if (database === undefined) {
    throw new Error(
      'Workers share a PostgreSQL database with their servers: set VERAVOX_DATABASE_URL. With SQLite, the server works on jobs itself.',
    );
  }
  if (storageBucket === '') {
    throw new Error(
      "Workers read recordings from a bucket: set VERAVOX_STORAGE_BUCKET, as for the servers. Files in a server's data folder cannot be read from other hosts.",
    );
  }
  if (jobWorkers === 0) throw new Error('VERAVOX_JOB_WORKERS is 0, so there is nothing to do.');
}

async function work(): Promise<void> {
  const hangUp = followHangUps();
  const config = loadConfig(process.env);
  checkSettings(config);
  checkDescriptors(config);
  const log = createLog(config);
  process.on('exit', log.closeNow);
  logWarnings(log.logger);
  // The files of the service are read while the database opens.
  const [{ database }, { startService }] = await Promise.all([
    openOwnState(config, log.logger),
    import('../service/service.js'),
  ]);
  const service = await startService({ config, log, parent: undefined, database, isWorker: true });
  const stopGracefully = gracefulStop(service, log, config.stopDrainMs);
  endOnUncaught(log, stopGracefully);
  followSignals({ service, stopGracefully, hangUp, log });
  const state = service.isReady ? 'works' : 'works, but a known answer of its models is wrong, ';
  log.print(shown`veravox ${state} on up to ${config.jobWorkers} jobs at once.\n`);
}
