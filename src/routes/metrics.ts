// SPDX-License-Identifier: Apache-2.0
import type { ServiceMetrics } from '../observe/service-metrics.js';
import type { Route } from './route.js';

export function metricsRoute(metrics: ServiceMetrics): Route {
  return {
    method: 'GET',
    path: '/metrics',
    isOutsideDocument: true,
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
        body: await metrics.text(),
      };
    },
  };
}
