// SPDX-License-Identifier: Apache-2.0
import type { Shown } from '../base/errors/shown-text.js';
import type { LoggedDelivery } from '../jobs/queue/delivery-table.js';
import { destinationOf } from '../jobs/queue/destination.js';
import { textTable } from './text-table.js';

const moment = (atMs: number | undefined): string | null =>
  atMs === undefined ? null : new Date(atMs).toISOString();

export const deliveryTable = (found: readonly LoggedDelivery[]): Shown =>
  textTable(
    ['id', 'job', 'account', 'created', 'state', '>attempts', 'last answer', 'next attempt', 'to'],
    found.map((delivery) => {
      const last = delivery.log.at(-1);
      return [
        delivery.id,
        delivery.jobId,
        delivery.account,
        moment(delivery.createdAtMs) ?? '',
        delivery.state,
        String(delivery.allAttempts),
        last?.problem ?? (last?.status === undefined ? '-' : `status ${last.status}`),
        moment(delivery.dueAtMs) ?? '-',
        destinationOf(delivery.url),
      ];
    }),
  );

export const publicDelivery = (delivery: LoggedDelivery) => ({
  id: delivery.id,
  job: delivery.jobId,
  account: delivery.account,
  url: destinationOf(delivery.url),
  state: delivery.state,
  created_at: moment(delivery.createdAtMs),
  next_attempt_at: moment(delivery.dueAtMs),
  finished_at: moment(delivery.finishedAtMs),
  attempts: delivery.log.map(({ atMs, tookMs, status, problem }) => ({
    at: moment(atMs),
    took_ms: tookMs,
    status: status ?? null,
    problem: problem ?? null,
  })),
});
