// SPDX-License-Identifier: Apache-2.0
import type { Row } from '../../state/database/database.js';
import type { deliveryStates } from '../contract/webhook.js';

/** The last two are final, until somebody asks for a replay. */
export type DeliveryState = (typeof deliveryStates)[number];

/** Tells one client of the end of one job. */
export interface Delivery {
  /** The `webhook-id`; the same at each attempt. */
  readonly id: string;
  readonly jobId: string;
  readonly account: string;
  readonly url: string;
  readonly state: DeliveryState;
  /** Since the start, or since the last replay. */
  readonly attempts: number;
  /** Since the start. */
  readonly allAttempts: number;
  readonly createdAtMs: number;
  /** Of the next attempt; undefined when there is none. */
  readonly dueAtMs?: number | undefined;
  readonly finishedAtMs?: number | undefined;
}

/** The outcome of one request to a client's address. */
export interface Attempt {
  readonly atMs: number;
  readonly tookMs: number;
  /** Of the answer; undefined without one. */
  readonly status?: number | undefined;
  /** In a few words; undefined if it was delivered. */
  readonly problem?: string | undefined;
}

export const deliveryColumns =
  'id, job_id, account, url, state, attempts, all_attempts, created_at_ms, due_at_ms, finished_at_ms';

interface DeliveryRow extends Row {
  readonly id: string;
  readonly job_id: string;
  readonly account: string;
  readonly url: string;
  readonly state: DeliveryState;
  readonly attempts: number;
  readonly all_attempts: number;
  readonly created_at_ms: number;
  readonly due_at_ms: number | null;
  readonly finished_at_ms: number | null;
}

export function deliveryOf(row: Row): Delivery {
  const found = row as DeliveryRow;
  return {
    id: found.id,
    jobId: found.job_id,
    account: found.account,
    url: found.url,
    state: found.state,
    attempts: found.attempts,
    allAttempts: found.all_attempts,
    createdAtMs: found.created_at_ms,
    dueAtMs: found.due_at_ms ?? undefined,
    finishedAtMs: found.finished_at_ms ?? undefined,
  };
}
