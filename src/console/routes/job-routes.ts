// SPDX-License-Identifier: Apache-2.0
import { eventStream } from '../../api/routes/event-stream.js';
import { pageAfter } from '../../api/routes/paging.js';
import { jsonReply, type Reply, type Route } from '../../api/routes/route.js';
import { ServiceError } from '../../base/errors/service-error.js';
import type { Job } from '../../jobs/queue/job.js';
import type { JobFilter, JobTable } from '../../jobs/queue/job-table.js';
import { answered } from '../../jobs/routes/job-answers.js';
import { JobEvents } from '../../jobs/routes/job-events.js';
import type { JobWatch } from '../../jobs/routes/job-watch.js';
import type { AuditEvent } from '../../state/records/audit-chain.js';
import {
  adminJobCancellation,
  adminJobDeliveries,
  adminJobEvents,
  adminJobListing,
  adminJobLookup,
  adminJobRetry,
  adminJobsEvents,
} from '../contract/job-endpoints.js';
import type { AdminJobListFields, AdminJobWatchFields } from '../contract/job-fields.js';
import type { AdminDeliveryList, AdminJobList } from '../contract/jobs.js';
import { accountOfList, seesAccount } from './accounts.js';
import { parameterIn, queryFields } from './admin-fields.js';

import { adminRoute, type Gatekeeper } from './admin-route.js';
import { deliveryBody, jobReply, listBody } from './job-bodies.js';
import { JobListEvents } from './job-list-events.js';
import { actedBy, type Principal } from './principal.js';
import { TimedTexts } from './timed-texts.js';

export interface AdminJobsParts {
  readonly jobs: JobTable;
  readonly watch: JobWatch;
  /** Aborted when clients that follow jobs should go to another server. */
  readonly stopping: AbortSignal;
  readonly noteFirst: (event: AuditEvent) => Promise<void>;
}

/** `/v1/admin/jobs`. */
export function adminJobRoutes(guard: Gatekeeper, parts: AdminJobsParts): Route[] {
  const { jobs, watch, stopping, noteFirst } = parts;
  const filter = queryFields<AdminJobListFields>(adminJobListing);
  const watched = queryFields<AdminJobWatchFields>(adminJobsEvents);
  const one = (endpoint: typeof adminJobLookup, act: (job: Job, principal: Principal) => Promise<Reply>) =>
    adminRoute(guard, endpoint, (principal, request) =>
      answered(async () => act(await visibleJob(jobs, principal, parameterIn(request, endpoint)), principal)),
    );
  const noteOf =
    (event: string, { id, account }: Job, principal: Principal) =>
    () =>
      noteFirst({ event, jobId: id, account, ...actedBy(principal) });
  return [
    adminRoute(guard, adminJobListing, async (principal, request) => {
      const { limit, cursor, ...asked } = filter(request);
      const { account, ...others } = filterOf(principal, asked);
      const page = await pageAfter(cursor, () => jobs.list(account, others, Number(limit), cursor));
      return jsonReply<AdminJobList>(200, await listBody(jobs, page));
    }),
    adminRoute(
      guard,
      adminJobsEvents,
      (principal, request) => {
        const { limit, ...asked } = watched(request);
        const { account, ...others } = filterOf(principal, asked);
        const read = async () => listBody(jobs, await jobs.list(account, others, Number(limit)));
        const follow = (onChange: () => void) => jobs.followList(onChange);
        const open = (ending: AbortSignal) => new JobListEvents({ read, follow, ending });
        return eventStream(new TimedTexts(open, stopping));
      },
      { isWatch: true },
    ),
    one(adminJobLookup, async (job) => jobReply(jobs, job)),
    {
      ...one(adminJobEvents, async ({ account, id }) => {
        const job = await watch.lookAt(account, id);
        if (job === undefined) throw new ServiceError('JOB_NOT_FOUND');
        return eventStream(new TimedTexts((ending) => new JobEvents(job, watch, ending), stopping));
      }),
      isWatch: true,
    },
    one(adminJobCancellation, async (job, principal) =>
      replyIfFound(jobs, await jobs.cancel(job.account, job.id, noteOf('job_cancelled', job, principal))),
    ),
    one(adminJobRetry, async (job, principal) =>
      replyIfFound(jobs, await jobs.retry(job, noteOf('job_retried', job, principal))),
    ),
    one(adminJobDeliveries, async ({ id }) => {
      const delivery = await jobs.deliveries.ofJob(id);
      const deliveries = delivery === undefined ? [] : [deliveryBody(delivery)];
      return jsonReply<AdminDeliveryList>(200, { deliveries });
    }),
  ];
}

function filterOf(
  principal: Principal,
  { state, task, account, key }: Omit<AdminJobWatchFields, 'limit'>,
): JobFilter & { readonly account: string | undefined } {
  return { state, task, keyId: key, account: accountOfList(principal, account) };
}

async function visibleJob(jobs: JobTable, principal: Principal, id: string): Promise<Job> {
  const job = await jobs.findOne(id.slice(0, 64));
  if (job === undefined || !seesAccount(principal, job.account)) throw new ServiceError('JOB_NOT_FOUND');
  return job;
}

async function replyIfFound(jobs: JobTable, job: Job | undefined): Promise<Reply> {
  if (job === undefined) throw new ServiceError('JOB_NOT_FOUND');
  return jobReply(jobs, job);
}
