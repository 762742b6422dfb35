// SPDX-License-Identifier: Apache-2.0
import { type FetchSurroundings, surroundings } from '../../api/fetch/acceptable-addresses.js';
import type { FetchPolicy } from '../../api/fetch/fetch-policy.js';
import type { Config } from '../../base/config/options.js';
import type { Logger } from '../../base/observe/log.js';
import type { ServiceMetrics } from '../../base/observe/service-metrics.js';
import type { Tracing } from '../../base/tracing/tracing.js';
import type { JobParts } from '../queue/job-parts.js';
import { attemptDelivery } from './webhook-attempt.js';
import { WebhookMetrics } from './webhook-metrics.js';
import { WebhookSender } from './webhook-sender.js';

export interface WebhookSenderParts {
  readonly config: Pick<Config, 'webhookTimeoutMs'>;
  readonly jobParts: JobParts;
  readonly policy: Pick<FetchPolicy, 'judge'>;
  readonly metrics: ServiceMetrics;
  readonly tracing: Tracing | undefined;
  readonly log: Logger;
  readonly overrides?: Partial<FetchSurroundings>;
}

const PARALLEL = 32;
const PER_ACCOUNT = 8;
const POLL_MS = 2000;
const COUNT_TIMEOUT_MS = 1000;

/** The sender of this process. */
export function startWebhookSender(parts: WebhookSenderParts): WebhookSender {
  const { config, jobParts, policy, metrics, tracing, log, overrides } = parts;
  const { jobs, deliveryWorkTable } = jobParts;
  const webhookMetrics = new WebhookMetrics(metrics.registry, () =>
    jobs.deliveries.countWaiting(COUNT_TIMEOUT_MS),
  );
  const attemptParts = {
    jobs,
    policy,
    tracing,
    surroundings: { ...surroundings, ...overrides },
    timeoutMs: config.webhookTimeoutMs,
  };
  return new WebhookSender(deliveryWorkTable, {
    parallel: PARALLEL,
    perAccount: PER_ACCOUNT,
    pollMs: POLL_MS,
    attempt: (delivery, stopping) => attemptDelivery(delivery, attemptParts, stopping),
    onAttempt: (outcome) => webhookMetrics.countAttempt(outcome),
    log,
  });
}
