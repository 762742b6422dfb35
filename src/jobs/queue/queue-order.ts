// SPDX-License-Identifier: Apache-2.0

/** The index `jobs_queued` has exactly these rows, in this order. A batch is no work for a worker: its lines are. */
export const isQueued = "state = 'queued' AND task <> 'batch'";
export const queueOrder = 'ORDER BY priority DESC, created_at_ms';
