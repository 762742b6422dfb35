// SPDX-License-Identifier: Apache-2.0
import type { FetchPolicy } from '../../api/fetch/fetch-policy.js';
import type { RecordingSources } from '../../api/fetch/recording-sources.js';
import type { Config } from '../../base/config/options.js';
import type { Logger } from '../../base/observe/log.js';
import type { FileStore } from '../../state/storage/open-storage.js';
import type { BatchWorkTable } from '../queue/batch-work-table.js';
import { HEARTBEAT_MS, LATE_LEASE } from '../turns/lease-renewal.js';
import { BatchWorkers } from './batch-workers.js';
import { ManifestReader } from './manifest-reader.js';
import { runBatch } from './run-batch.js';

export interface BatchWorkersParts {
  readonly config: Pick<Config, 'maxBatchLines'>;
  readonly workTable: BatchWorkTable;
  readonly sources: RecordingSources;
  readonly files: FileStore;
  readonly policy: Pick<FetchPolicy, 'judge'>;
  readonly log: Logger;
}

const PARALLEL = 8;
const PER_ACCOUNT = PARALLEL / 2;
const POLL_MS = 2000;

/** This process's workers for batches. */
export function startBatchWorkers({
  config,
  workTable,
  sources,
  files,
  policy,
  log,
}: BatchWorkersParts): Pick<BatchWorkers, 'close'> {
  const manifests = new ManifestReader();
  const batchWorkers = new BatchWorkers(workTable, {
    parallel: PARALLEL,
    perAccount: PER_ACCOUNT,
    pollMs: POLL_MS,
    log,
    run: (work, nextLook, limits) =>
      runBatch(
        work,
        {
          workTable,
          files,
          policy,
          nextLook,
          openSource: (source, signal) =>
            'object' in source
              ? sources.ofObject(source.object, signal)
              : sources.ofLink(source.link, work.job.account, signal),
          writeFrom: (name, pieces, signal) => files.storage.writeFrom(name, pieces, signal),
          maxLines: config.maxBatchLines,
          manifests,
          heartbeatMs: HEARTBEAT_MS,
          onLate: (silentMs) => log.warn({ job: work.job.id, silentMs }, LATE_LEASE),
        },
        limits,
      ),
  });
  return {
    async close() {
      await batchWorkers.close();
      await manifests.close();
    },
  };
}
