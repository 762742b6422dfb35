// SPDX-License-Identifier: Apache-2.0
import type { Closers } from '../base/closers.js';
import type { Config } from '../base/config/options.js';
import type { Logger } from '../base/observe/log.js';
import type { RequestRecorder } from '../base/observe/request-record.js';
import type { ServiceMetrics } from '../base/observe/service-metrics.js';
import { FinishedJobs } from '../jobs/queue/finished-jobs.js';
import type { Database } from '../state/database/database.js';
import type { WatchedDatabase } from '../state/database/watched-database.js';
import type { AuditEvent } from '../state/records/audit-chain.js';
import { AuditLog } from '../state/records/audit-log.js';
import { Retention } from '../state/records/retention.js';
import { UsageMeter } from '../state/records/usage-meter.js';
import { UsageTable } from '../state/records/usage-table.js';
import { AccountSpace } from '../state/storage/account-space.js';
import { sweepObjects } from '../state/storage/object-sweep.js';
import { diskSettings } from '../state/storage/open-storage.js';

export interface ServerRecords {
  readonly recorders: readonly RequestRecorder[];
  /** Writes an event into the audit, if there is one. */
  note(event: AuditEvent): void;
  /** Adds the counts to the database; resolves also if that failed. */
  flushUsage(): Promise<void>;
}

/**
 * The records of acts and usage, removed when their time is over.
 * @param cleans false for all processes of a server but one
 */
export function openServerRecords(
  config: Config,
  logger: Logger,
  metrics: ServiceMetrics,
  database: Database & Partial<Pick<WatchedDatabase, 'note'>>,
  cleans: boolean,
  closers: Closers,
): ServerRecords {
  const audit =
    config.audit === 'off'
      ? undefined
      : new AuditLog(config.dataDir, {
          onError(error) {
            logger.error({ err: error }, 'audit lines could not be written; keeping them in memory');
            database.note?.(error);
          },
          onLost: (lines) => metrics.auditLinesLost.inc(lines),
        });
  closers.add('audit', () => audit?.close());
  const note = (event: AuditEvent): void => audit?.note(event);
  const usageTable = new UsageTable(database);
  const usage = new UsageMeter(usageTable, config.dataDir, {
    onError: (error) => logger.error({ err: error }, 'usage could not be added to the database; will retry'),
  });
  closers.add('usage', () => usage.close());
  if (cleans) {
    const retention = openRetention(config, logger, database, usageTable, (event) => {
      note(event);
      return audit?.flush();
    });
    closers.add('retention', () => retention.close());
  }
  return { recorders: [usage, ...(audit ? [audit] : [])], note, flushUsage: () => usage.flush() };
}

function openRetention(
  config: Config,
  logger: Logger,
  database: Database,
  usage: UsageTable,
  note: (event: AuditEvent) => Promise<void> | undefined,
): Retention {
  const { objectTtlDays, storageBucket } = config;
  return new Retention(config.dataDir, {
    auditDays: config.auditDays,
    usageDays: config.usageDays,
    usage,
    jobDays: config.jobRetentionDays,
    jobs: new FinishedJobs(database),
    ...(objectTtlDays > 0 && storageBucket === '' && { sweepObjects: objectSweep(config) }),
    onRemoved(event) {
      logger.info(event, 'removed expired data');
      return note(event);
    },
    onError: (error) => logger.error({ err: error }, 'expired data could not be removed; will retry'),
  });
}

function objectSweep(config: Config) {
  const { dataDir, quota, ttlDays } = diskSettings(config);
  const space = new AccountSpace(dataDir, quota);
  return (daysSince: (stored: Date) => number) => sweepObjects(dataDir, space, ttlDays, daysSince);
}
