// SPDX-License-Identifier: Apache-2.0
import type { MetricObject } from 'prom-client';

export interface ProcessCounts {
  readonly restarts: number;
  readonly hangs: number;
}

/** The Prometheus series of the supervisor itself. */
export const processMetrics = ({ restarts, hangs }: ProcessCounts): MetricObject[] => [
  counter(
    'veravox_process_restarts_total',
    'Processes of the server that ended and were started again.',
    restarts,
  ),
  counter(
    'veravox_process_hangs_total',
    'Processes of the server that were ended because they no longer answered.',
    hangs,
  ),
];

const counter = (name: string, help: string, value: number): MetricObject =>
  ({
    name,
    help,
    type: 'counter',
    aggregator: 'sum',
    values: [{ value, labels: {} }],
  }) as unknown as MetricObject;
