// SPDX-License-Identifier: Apache-2.0
import { jobCancellation, jobCreation, jobListing, jobLookup } from '../../base/contract/job-endpoints.js';
import { answered } from './job-answers.js';
import { type JobRouteParts, jobCreator } from './job-creation.js';
import { cancellation, listing, lookup } from './job-lookups.js';
import type { Route } from './route.js';

/** `/v1/jobs`: analyses that outlive their request. */
export function jobRoutes(parts: JobRouteParts): Route[] {
  const { jobs, analyser } = parts;
  return [
    { ...jobCreation(analyser.status().detectors), handle: jobCreator(parts) },
    { ...jobListing, handle: (request) => answered(() => listing(jobs, request)) },
    { ...jobLookup, isPrefix: true, handle: (request) => answered(() => lookup(jobs, request)) },
    { ...jobCancellation, isPrefix: true, handle: (request) => answered(() => cancellation(jobs, request)) },
  ];
}
