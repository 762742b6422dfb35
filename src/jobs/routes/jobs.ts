// SPDX-License-Identifier: Apache-2.0
import type { Route } from '../../api/routes/route.js';
import {
  batchCreation,
  jobCancellation,
  jobCreation,
  jobEvents,
  jobListing,
  jobLookup,
} from '../contract/job-endpoints.js';
import { batchCreator } from './batch-creation.js';
import { answered } from './job-answers.js';
import { type JobRouteParts, jobCreator } from './job-creation.js';
import { follow } from './job-events.js';
import { cancellation, listing, lookup } from './job-lookups.js';
import type { JobWatch } from './job-watch.js';

export interface JobRoutesParts extends JobRouteParts {
  readonly watch: JobWatch;
  /** Aborted when clients that follow jobs should go to another server. */
  readonly stopping: AbortSignal;
}

/** `/v1/jobs`: analyses that outlive their request. */
export function jobRoutes(parts: JobRoutesParts): Route[] {
  const { jobs, analyser, watch, stopping } = parts;
  return [
    { ...jobCreation(analyser.status().detectors), handle: jobCreator(parts) },
    { ...batchCreation(analyser.status().detectors), handle: batchCreator(parts) },
    { ...jobListing, handle: (request) => answered(() => listing(jobs, request)) },
    { ...jobLookup, isPrefix: true, handle: (request) => answered(() => lookup(jobs, request)) },
    { ...jobCancellation, isPrefix: true, handle: (request) => answered(() => cancellation(jobs, request)) },
    { ...jobEvents, isWatch: true, handle: (request) => answered(() => follow(watch, stopping, request)) },
  ];
}
