// SPDX-License-Identifier: Apache-2.0
import type { FetchPolicy } from '../../api/fetch/fetch-policy.js';
import type { RecordingSources } from '../../api/fetch/recording-sources.js';
import type { Config } from '../../base/config/options.js';
import type { Logger } from '../../base/observe/log.js';
import type { FileStore } from '../../state/storage/open-storage.js';
import type { BatchDesk } from '../queue/batch-desk.js';
import { HEARTBEAT_MS } from '../turns/lease-heart.js';
import { BatchTenders } from './batch-tenders.js';
import { ManifestReader } from './manifest-reader.js';
import { tendBatch } from './tend-batch.js';

export interface BatchTendersParts {
  readonly config: Pick<Config, 'maxBatchLines'>;
  readonly desk: BatchDesk;
  readonly sources: RecordingSources;
  readonly files: FileStore;
  readonly policy: Pick<FetchPolicy, 'judge'>;
  readonly log: Logger;
}

const PARALLEL = 8;
const PER_ACCOUNT = PARALLEL / 2;
const POLL_MS = 2000;

/** The tenders of this process. */
export function startBatchTenders({
  config,
  desk,
  sources,
  files,
  policy,
  log,
}: BatchTendersParts): Pick<BatchTenders, 'close'> {
  const manifests = new ManifestReader();
  const tenders = new BatchTenders(desk, {
    parallel: PARALLEL,
    perAccount: PER_ACCOUNT,
    pollMs: POLL_MS,
    log,
    tend: (work, nextLook, limits) =>
      tendBatch(
        work,
        {
          desk,
          files,
          policy,
          nextLook,
          openSource: (source, signal) =>
            'object' in source ? sources.ofObject(source.object) : sources.ofLink(source.link, signal),
          writeFrom: (name, pieces) => files.storage.writeFrom(name, pieces),
          maxLines: config.maxBatchLines,
          manifests,
          heartbeatMs: HEARTBEAT_MS,
        },
        limits,
      ),
  });
  return {
    async close() {
      await tenders.close();
      await manifests.close();
    },
  };
}
