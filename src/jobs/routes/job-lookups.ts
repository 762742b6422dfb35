// SPDX-License-Identifier: Apache-2.0
import { FieldValidator } from '../../api/routes/form-fields.js';
import { queryValues } from '../../api/routes/link-fields.js';
import { pageAfter } from '../../api/routes/paging.js';
import { callerOf, jsonReply, type Reply, type RouteRequest } from '../../api/routes/route.js';
import { ServiceError } from '../../base/errors/service-error.js';
import type { JobList } from '../contract/job.js';
import { jobLookup } from '../contract/job-endpoints.js';
import { type JobListFields, jobListRequest } from '../contract/job-fields.js';
import type { JobTable } from '../queue/job-table.js';
import { jobReply, requireScope, summariesOf } from './job-answers.js';

const listValidator = new FieldValidator<JobListFields>(jobListRequest);

export async function listing(jobs: JobTable, request: RouteRequest): Promise<Reply> {
  const fields = listValidator.check(queryValues(request.query, jobListRequest.schemas));
  const { state, limit, cursor } = fields;
  const { account } = callerOf(request);
  const page = await pageAfter(cursor, () => jobs.list(account, { state }, Number(limit), cursor));
  const entries = await summariesOf(jobs, page.jobs);
  return jsonReply<JobList>(200, { jobs: entries, next_cursor: page.cursor ?? null });
}

export async function lookup(jobs: JobTable, request: RouteRequest): Promise<Reply> {
  const job = await jobs.get(callerOf(request).account, idIn(request));
  if (job === undefined) throw new ServiceError('JOB_NOT_FOUND');
  requireScope(request, job.task);
  return jobReply(200, jobs, job);
}

export async function cancellation(jobs: JobTable, request: RouteRequest): Promise<Reply> {
  const { account } = callerOf(request);
  const found = await jobs.get(account, idIn(request));
  if (found !== undefined) requireScope(request, found.task);
  const job = found && (await jobs.cancel(account, found.id));
  if (job === undefined) throw new ServiceError('JOB_NOT_FOUND');
  return jobReply(200, jobs, job);
}

const idIn = ({ path }: RouteRequest): string => path.slice(jobLookup.path.length).slice(0, 64);
