// SPDX-License-Identifier: Apache-2.0
//
// This wing analyses recordings and lists of them in the background. Its clients' side is a wing of routes; its workers' side runs in servers
// and in `veravox work` alike.
import { setMaxListeners } from 'node:events';
import { refuseUnacceptable, surroundings } from '../api/fetch/acceptable-addresses.js';
import { webhookPolicy } from '../api/fetch/fetch-policy.js';
import type { OnUploadLinks } from '../api/routes/links.js';
import type { OnStored } from '../api/routes/store-object.js';
import type { Wing } from '../api/routes/wing.js';
import type { DetectorNames } from '../base/contract/model-ids.js';
import { once } from '../base/once.js';
import { type BackgroundWork, type BackgroundWorkParts, startBackgroundWork } from './background-work.js';
import { jobEndpoints } from './contract/job-endpoints.js';
import { JobWatch } from './routes/job-watch.js';
import { type JobRoutesParts, jobRoutes } from './routes/jobs.js';
import { uploadJobs, uploadsToAwait } from './routes/upload-jobs.js';

export type JobsWingParts = Omit<BackgroundWorkParts, 'callbackPolicy'>;

export interface JobsWing extends Required<Omit<Wing, 'close'>> {
  /** For other routes about jobs. */
  readonly shared: Pick<
    JobRoutesParts,
    'jobs' | 'policy' | 'callbackPolicy' | 'refuseAddress' | 'watch' | 'stopping'
  >;
  /** Makes jobs of uploads to a bucket; undefined if none are wanted, or if the storage tells of them itself. */
  readonly onUploadLinks: OnUploadLinks | undefined;
  /** Makes jobs of uploads to the data folder. */
  onStored(detectors: readonly DetectorNames[]): OnStored;
  /** Begins to work on jobs. */
  start(): void;
  /** The number of jobs in work here. */
  busy(): number;
}

export function openJobsWing(parts: JobsWingParts): JobsWing {
  const { config, jobParts, files, policy } = parts;
  const callbackPolicy = webhookPolicy(config);
  const around = { ...surroundings, ...parts.fetchSurroundings };
  const stopping = new AbortController();
  // Each client that follows a job listens.
  setMaxListeners(0, stopping.signal);
  const shared: JobsWing['shared'] = {
    jobs: jobParts.jobs,
    policy,
    callbackPolicy,
    refuseAddress: (target) => refuseUnacceptable(target, around),
    watch: new JobWatch(jobParts.jobs),
    stopping: stopping.signal,
  };
  let work: BackgroundWork | undefined;
  return {
    shared,
    onUploadLinks: uploadsToAwait(config, files.bucket && jobParts.awaitedUploads),
    onStored: (detectors) => uploadJobs(config, jobParts.jobs, detectors, files.home),
    endpoints: jobEndpoints,
    routes: ({ analyser }, points) => jobRoutes({ ...shared, config, analyser, points, files }),
    start() {
      work = startBackgroundWork({ ...parts, callbackPolicy });
    },
    busy: () => work?.jobsBusy() ?? 0,
    takeAnew: () => work?.takeAnew(),
    giveBack: once(async () => work?.close()),
    drain: () => stopping.abort(),
  };
}
