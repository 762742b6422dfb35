// SPDX-License-Identifier: Apache-2.0
import type { ServiceMetrics } from '../../base/observe/service-metrics.js';
import type { Route } from './route.js';

export function metricsRoute(metrics: ServiceMetrics): Route {
  let rendering: Promise<string> | undefined;
  /** Simultaneous requests get the same text: to write it takes milliseconds. */
  const render = (): Promise<string> => {
    rendering ??= metrics.text().finally(() => {
      rendering = undefined;
    });
    return rendering;
  };
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
        body: await render(),
      };
    },
  };
}
