// SPDX-License-Identifier: Apache-2.0
import type { ServedModels } from '../../analysis/served/served-models.js';
import type { RecordingSources } from '../../api/fetch/recording-sources.js';
import type { Config } from '../../base/config/options.js';
import { ServiceError } from '../../base/errors/service-error.js';
import type { EndedRequests } from '../../base/observe/ended-requests.js';
import type { Logger } from '../../base/observe/log.js';
import type { RequestRecord } from '../../base/observe/request-record.js';
import type { ServiceMetrics } from '../../base/observe/service-metrics.js';
import type { Tracing } from '../../base/tracing/tracing.js';
import { unlessDamaged } from '../../state/database/stored-json.js';
import type { ObjectStorage } from '../../state/storage/object-storage.js';
import type { Job } from '../queue/job.js';
import { JobMetrics } from '../queue/job-metrics.js';
import type { JobParts } from '../queue/job-parts.js';
import { jobParameters } from '../queue/job-text.js';
import { JOB_ROUTE } from '../queue/job-work-table.js';
import { HEARTBEAT_MS, LATE_LEASE } from '../turns/lease-renewal.js';
import { enrollRecording } from './enroll-recording.js';
import { FailureFiles } from './failure-files.js';
import { type JobEnd, type JobTurn, runJob } from './job-runner.js';
import { beginJobSpan, endJobSpan, withSpans } from './job-span.js';
import { JobWorkers } from './job-workers.js';

export interface JobWorkersParts {
  readonly config: Config;
  readonly jobParts: JobParts;
  readonly sources: RecordingSources;
  readonly storage: Pick<ObjectStorage, 'write'>;
  /** Models for work that begins now. */
  readonly models: () => ServedModels;
  readonly metrics: ServiceMetrics;
  readonly tracing: Tracing | undefined;
  readonly ended: EndedRequests;
  readonly log: Logger;
}

const POLL_MS = 5000;
/** Of the audio. */
const MAX_DURATION_S = 86_400;
/** Of one turn, which a further one continues. */
const TURN_LIMIT_MS = 24 * 3_600_000;

/** The workers of this process. */
export function startJobWorkers(parts: JobWorkersParts): Pick<JobWorkers, 'busy' | 'takeAnew' | 'close'> {
  const { config, jobParts, sources, storage, models, metrics, tracing, ended, log } = parts;
  const { jobs, workTable } = jobParts;
  const store = (name: string, result: object): Promise<void> =>
    storage.write(name, Buffer.from(`${JSON.stringify(result)}\n`));

  const failureFiles = new FailureFiles({ workTable, store, log });
  const jobMetrics = new JobMetrics(metrics.registry, () => jobs.countUnfinished(), {
    workers: config.jobWorkers,
    busy: () => workers.busy,
  });
  const workers: JobWorkers = new JobWorkers(workTable, {
    workers: config.jobWorkers,
    pollMs: POLL_MS,
    log,
    async run(work, limits) {
      const current = models();
      const span = beginJobSpan(tracing, work.job);
      current.enter();
      try {
        const turn = await runJob(
          work,
          withSpans(
            {
              workTable,
              analyser: current.analyser,
              enroll: (task) => enrollRecording(task, current.analyser, config),
              openSource: (source, signal) =>
                'object' in source
                  ? sources.ofObject(source.object, signal)
                  : sources.ofLink(source.link, work.job.account, signal),
              store,
              maxBytes: config.maxJobBytes,
              maxDurationS: MAX_DURATION_S,
              timeLimitMs: TURN_LIMIT_MS,
              heartbeatMs: HEARTBEAT_MS,
              onLate: (silentMs) => log.warn({ job: work.job.id, silentMs }, LATE_LEASE),
            },
            span,
          ),
          limits,
        );
        endJobSpan(span, work.job, turn);
        return turn;
      } finally {
        current.leave();
      }
    },
    onPoll: () => failureFiles.look(),
    onTurn(job, turn, tookMs) {
      const end: JobTurn =
        turn === 'worker died' ? { outcome: 'failed', failure: new ServiceError('WORKER_DIED') } : turn;
      if (end.outcome === 'failed') failureFiles.look();
      jobMetrics.countTurn(end.outcome, 'done' in end ? end.done.audioS : 0);
      if (end.outcome !== 'succeeded' && end.outcome !== 'failed') return;
      ended.noteJob(recordOf(job, end, tookMs));
    },
  });
  return {
    get busy() {
      return workers.busy;
    },
    takeAnew: () => workers.takeAnew(),
    async close() {
      await Promise.all([workers.close(), failureFiles.close()]);
    },
  };
}

/** A job that ended counts as one request of its key to the route `job`, with all of its audio. */
function recordOf(job: Job, turn: JobEnd, totalMs: number) {
  const common = {
    correlationId: job.id,
    method: 'JOB',
    route: JOB_ROUTE,
    isCounted: true as const,
    keyId: job.keyId,
    account: job.account,
    stagesMs: {},
    totalMs,
  };
  if (turn.outcome === 'failed') {
    const { status, key, cause } = turn.failure;
    const model = unlessDamaged(() => jobParameters(job))?.model;
    return {
      ...common,
      ...(model !== undefined && { model }),
      status,
      errorKey: key,
      cause,
    } satisfies RequestRecord;
  }
  const { bytes, audioS, scoredWindows, skippedS, model, modelIds } = turn.done;
  return {
    ...common,
    model,
    status: 200,
    bodyBytes: bytes,
    audioS,
    scoredWindows,
    skippedS,
    modelIds,
  } satisfies RequestRecord;
}
