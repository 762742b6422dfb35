// SPDX-License-Identifier: Apache-2.0
import type { FetchSurroundings } from '../../api/fetch/acceptable-addresses.js';
import type { FetchPolicy } from '../../api/fetch/fetch-policy.js';
import type { ErrorKey } from '../../base/errors/catalogue.js';
import { ServiceError } from '../../base/errors/service-error.js';
import type { Tracing } from '../../base/tracing/tracing.js';
import type { Attempt, Delivery } from '../queue/delivery.js';
import type { JobTable } from '../queue/job-table.js';
import { webhookSignature } from './signature.js';
import { webhookBody } from './webhook-body.js';
import { postJson } from './webhook-post.js';

export interface AttemptParts {
  readonly jobs: JobTable;
  readonly policy: Pick<FetchPolicy, 'judge'>;
  readonly surroundings: FetchSurroundings;
  readonly timeoutMs: number;
  readonly tracing?: Tracing | undefined;
}

export interface AttemptEnd {
  readonly attempt: Attempt;
  /** Another attempt cannot help. */
  readonly isFinal: boolean;
  readonly retryAfterS?: number | undefined;
}

/** "Never again", in the language of HTTP. */
const GONE = 410;

const problems: Partial<Record<ErrorKey, string>> = {
  WEBHOOK_HOST_REFUSED: 'the host is no longer allowed',
  FETCH_ADDRESS_REFUSED: 'the host has an address that is neither public nor allowed',
  FETCH_UNREACHABLE: 'the host cannot be reached',
  FETCH_INSECURE: 'TLS failed',
  FETCH_TIMEOUT: 'no answer in time',
};

/**
 * One request to a client's address. The rules for links hold each time anew.
 * @throws DatabaseError, or the signal's reason
 */
export async function attemptDelivery(
  { id, jobId, account, url, allAttempts }: Delivery,
  { jobs, policy, surroundings, timeoutMs, tracing }: AttemptParts,
  signal: AbortSignal,
): Promise<AttemptEnd> {
  const job = await jobs.get(account, jobId);
  const secrets = await jobs.webhookSecrets.active(account);
  const atMs = Date.now();
  const beganMs = performance.now();
  const span = tracing?.begin({ name: 'webhook', kind: 'client', parent: job?.traceparent });
  const ended = (more: Pick<Attempt, 'status' | 'problem'>): Attempt => {
    const { status, problem } = more;
    const facts = {
      'http.request.method': 'POST',
      'http.response.status_code': status,
      'veravox.job_id': jobId,
      'veravox.attempt': allAttempts + 1,
    };
    span?.end({ facts, problem });
    return { atMs, tookMs: performance.now() - beganMs, ...more };
  };
  if (job === undefined) return { attempt: ended({ problem: 'the job was removed' }), isFinal: true };
  // The delivery was withdrawn meanwhile: the next end of the job has its own.
  if (job.finishedAtMs === undefined) {
    return { attempt: ended({ problem: 'the job is tried again' }), isFinal: true };
  }
  if (secrets.length === 0) {
    return { attempt: ended({ problem: 'the account has no secret' }), isFinal: false };
  }
  const body = await webhookBody(jobs, job);
  const atS = Math.floor(atMs / 1000);
  const headers = {
    'webhook-id': id,
    'webhook-timestamp': String(atS),
    'webhook-signature': webhookSignature(
      secrets.map(({ text }) => text),
      id,
      atS,
      body,
    ),
    ...(span && { traceparent: span.traceparent }),
  };
  try {
    const target = { ...policy.judge(url), account };
    const answer = await postJson(target, headers, body, { surroundings, timeoutMs }, signal);
    const { status, retryAfterS } = answer;
    if (status >= 200 && status < 300) return { attempt: ended({ status }), isFinal: false };
    const problem =
      status >= 300 && status < 400 ? `status ${status}: redirects are not followed` : `status ${status}`;
    return { attempt: ended({ status, problem }), isFinal: status === GONE, retryAfterS };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return { attempt: ended({ problem: problems[error.key] ?? error.key }), isFinal: false };
  }
}
