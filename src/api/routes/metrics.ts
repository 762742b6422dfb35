// SPDX-License-Identifier: Apache-2.0
import { METRICS_PAUSE_MS, seldom } from '../../base/observe/fresh-for.js';
import type { ServiceMetrics } from '../../base/observe/service-metrics.js';
import type { Route } from './route.js';

export function metricsRoute(metrics: Pick<ServiceMetrics, 'registry' | 'text'>): Route {
  const text = seldom(METRICS_PAUSE_MS, () => metrics.text());
  return {
    method: 'GET',
    path: '/metrics',
    isForOperators: true,
    operation: {
      id: 'metrics',
      tag: 'Operation',
      summary: 'Counters and times for Prometheus.',
      answers: { 200: { description: 'All series.', contentType: 'text/plain' } },
      errors: [],
    },
    async handle() {
      return {
        status: 200,
        contentType: metrics.registry.contentType,
        body: await text(),
      };
    },
  };
}
