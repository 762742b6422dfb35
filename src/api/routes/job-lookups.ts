// SPDX-License-Identifier: Apache-2.0
import type { JobBody, JobList } from '../../base/contract/job.js';
import { jobLookup } from '../../base/contract/job-endpoints.js';
import { type JobListFields, jobListRequest } from '../../base/contract/job-fields.js';
import { ServiceError } from '../../base/errors/service-error.js';
import type { Jobs } from '../../state/jobs/jobs.js';
import { FieldValidator } from './form-fields.js';
import { bodyOf, requireScope, summariesOf } from './job-answers.js';
import { queryValues } from './link-fields.js';
import { pageAfter } from './paging.js';
import { callerOf, jsonReply, type Reply, type RouteRequest } from './route.js';

const listValidator = new FieldValidator<JobListFields>(jobListRequest);

export async function listing(jobs: Jobs, request: RouteRequest): Promise<Reply> {
  const fields = listValidator.check(queryValues(request.query, jobListRequest.schemas));
  const { state, limit, cursor } = fields;
  const { account } = callerOf(request);
  const page = await pageAfter(cursor, () => jobs.list(account, { state }, Number(limit), cursor));
  const entries = await summariesOf(jobs, page.jobs);
  return jsonReply<JobList>(200, { jobs: entries, next_cursor: page.cursor ?? null });
}

export async function lookup(jobs: Jobs, request: RouteRequest): Promise<Reply> {
  const job = await jobs.get(callerOf(request).account, idIn(request));
  if (job === undefined) throw new ServiceError('JOB_NOT_FOUND');
  requireScope(request, job.task);
  return jsonReply<JobBody>(200, await bodyOf(jobs, job));
}

export async function cancellation(jobs: Jobs, request: RouteRequest): Promise<Reply> {
  const { account } = callerOf(request);
  const found = await jobs.get(account, idIn(request));
  if (found !== undefined) requireScope(request, found.task);
  const job = found && (await jobs.cancel(account, found.id));
  if (job === undefined) throw new ServiceError('JOB_NOT_FOUND');
  return jsonReply<JobBody>(200, await bodyOf(jobs, job));
}

const idIn = ({ path }: RouteRequest): string => path.slice(jobLookup.path.length).slice(0, 64);
