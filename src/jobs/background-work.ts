// SPDX-License-Identifier: Apache-2.0
import type { ModelRotation } from '../analysis/served/model-rotation.js';
import type { FetchSurroundings } from '../api/fetch/acceptable-addresses.js';
import type { FetchPolicy } from '../api/fetch/fetch-policy.js';
import { RecordingSources } from '../api/fetch/recording-sources.js';
import type { Config } from '../base/config/options.js';
import type { EndedRequests } from '../base/observe/ended-requests.js';
import type { Logger } from '../base/observe/log.js';
import type { ServiceMetrics } from '../base/observe/service-metrics.js';
import type { Tracing } from '../base/tracing/tracing.js';
import type { FileStore } from '../state/storage/open-storage.js';
import { startBatchWorkers } from './batches/start-batch-workers.js';
import type { JobParts } from './queue/job-parts.js';
import { startWebhookSender } from './webhooks/start-webhook-sender.js';
import { startJobWorkers } from './work/start-job-workers.js';
import { startUploadWatch } from './work/upload-watch.js';

export interface BackgroundWorkParts {
  readonly config: Config;
  readonly jobParts: JobParts;
  readonly files: FileStore;
  readonly models: ModelRotation;
  readonly metrics: ServiceMetrics;
  readonly tracing: Tracing | undefined;
  readonly ended: EndedRequests;
  readonly log: Logger;
  readonly fetchSurroundings: Partial<FetchSurroundings> | undefined;
  /** For recordings behind links. */
  readonly policy: FetchPolicy;
  /** For addresses that the ends of jobs are posted to. */
  readonly callbackPolicy: FetchPolicy;
}

/** Background work of one process. */
export interface BackgroundWork {
  /** Ends the turns of the jobs in work: they begin again with the models of the moment. */
  takeAnew(): void;
  /** Jobs that it works on now. */
  jobsBusy(): number;
  /** Gives back unfinished work. */
  close(): Promise<void>;
}

export function startBackgroundWork(parts: BackgroundWorkParts): BackgroundWork {
  const { config, jobParts, files, models, metrics, tracing, ended, log, fetchSurroundings } = parts;
  const { policy, callbackPolicy } = parts;
  const timeouts = { stallTimeoutMs: config.fetchStallTimeoutMs, totalTimeoutMs: config.fetchTimeoutMs };
  const current = () => models.current;
  const sources = new RecordingSources(files, policy, timeouts, fetchSurroundings);
  const workers = startJobWorkers({
    config,
    jobParts,
    sources,
    storage: files.storage,
    models: current,
    metrics,
    tracing,
    ended,
    log,
  });
  const uploads = startUploadWatch({ config, jobParts, files, models: current, log });
  const batchWorkers = startBatchWorkers({
    config,
    workTable: jobParts.batchWorkTable,
    sources,
    files,
    policy,
    log,
  });
  const webhooks = startWebhookSender({
    config,
    jobParts,
    policy: callbackPolicy,
    metrics,
    tracing,
    log,
    ...(fetchSurroundings && { overrides: fetchSurroundings }),
  });
  return {
    takeAnew: () => workers.takeAnew(),
    jobsBusy: () => workers.busy,
    async close() {
      await Promise.all([workers.close(), uploads?.close(), batchWorkers.close(), webhooks.close()]);
    },
  };
}
