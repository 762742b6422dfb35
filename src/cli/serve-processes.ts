// SPDX-License-Identifier: Apache-2.0
import { once } from 'node:events';
import net, { type AddressInfo } from 'node:net';
import { RateLimits, rateLimitOf } from '../api/admission/rate-limits.js';
import { whyNotListening } from '../api/http/listen-error.js';
import type { Config } from '../base/config/options.js';
import { shown } from '../base/errors/shown-text.js';
import type { ServiceLog } from '../base/observe/log.js';
import { openDeadlyInputs } from '../service/crash-notes.js';
import { openRatesOverHosts } from '../service/rates-over-hosts.js';
import { StartFailure, Supervisor } from '../service/supervision/supervisor.js';
import type { Database } from '../state/database/database.js';
import { noteAdminAct } from '../state/records/admin-act.js';
import { firstLinkNote } from './first-link.js';
import { announcement, type FirstStart } from './first-start.js';
import type { HangUps } from './hang-up.js';
import { onStopSignals } from './stop-signals.js';

export interface ProcessesOptions {
  readonly config: Config;
  readonly log: ServiceLog;
  readonly hangUp: HangUps;
  /** Holds the data folder's lock while any of the processes lives. */
  readonly lockDescriptor: number;
  /** Closed when it is needed no longer. */
  readonly database: Database;
  readonly firstStart: FirstStart | undefined;
}

/** Runs the server as `config.processes` processes and restarts dead ones. */
export async function serveProcesses(options: ProcessesOptions): Promise<void> {
  const { config, log, hangUp, lockDescriptor, database, firstStart } = options;
  const port = await freePort(config.host, config.port);
  if (config.adminAddress) await freePort(config.adminAddress.host, config.adminAddress.port);
  const ratesOverHosts = openRatesOverHosts(config, database, log.logger);
  const supervisor = new Supervisor({
    processes: config.processes,
    hangTimeoutMs: config.hangTimeoutMs,
    port,
    dataDir: config.dataDir,
    lockDescriptor,
    deadlyInputs: openDeadlyInputs(config.dataDir, log.logger, true),
    rates: ratesOverHosts ?? new RateLimits(rateLimitOf(config)),
    log: log.logger,
  });
  const stop = onStopSignals(
    (signal) => {
      log.logger.info({ signal }, 'stop requested');
      void supervisor
        .stop()
        .then(() => ratesOverHosts?.close())
        .then(() => database.close())
        .then(() => log.close())
        .then(() => process.exit(0));
    },
    () => {
      supervisor.kill();
      process.exit(1);
    },
  );
  try {
    const isReady = await supervisor.start();
    if (supervisor.isStopping) return;
    hangUp.follow((isTerminalGone) => {
      if (isTerminalGone) stop('SIGHUP');
      else supervisor.reload();
    });
    const firstKey = await firstStart?.createKey();
    const link = await firstLinkNote({ config, database, port, isFirstStart: firstKey !== undefined });
    if (ratesOverHosts === undefined) await database.close();
    if (firstKey !== undefined) await noteAdminAct(config, { event: 'key_created', keyId: firstKey.id });
    log.print(shown`${announcement(config, port, firstKey, isReady)}${link}`);
  } catch (error) {
    // The process has logged the reason itself.
    if (!(error instanceof StartFailure)) throw error;
    process.exit(error.exitCode);
  }
}

/**
 * The processes share the port, and would also share it with other programs.
 * @param port 0 for any free port
 * @throws Error if another program listens there
 */
async function freePort(host: string, port: number): Promise<number> {
  const probe = net.createServer();
  try {
    probe.listen({ host, port, exclusive: true });
    await once(probe, 'listening');
  } catch (error) {
    throw new Error(await whyNotListening(host, port), { cause: error });
  }
  const free = (probe.address() as AddressInfo).port;
  probe.close();
  await once(probe, 'close');
  return free;
}
