// SPDX-License-Identifier: Apache-2.0
import type { Config } from '../config/config.js';
import { packageVersion } from '../config/package-dir.js';
import type { ServiceMetrics } from '../observe/service-metrics.js';
import type { Analyser } from '../pipeline/analysis.js';
import { withDocs } from '../routes/docs.js';
import { livezRoute, readyzRoute } from '../routes/health.js';
import { metricsRoute } from '../routes/metrics.js';
import { predictRoute } from '../routes/predict.js';
import type { Route } from '../routes/route.js';
import type { ArenaQueue } from '../upload/arena-queue.js';

export interface RouteParts {
  readonly config: Config;
  readonly analyser: Analyser;
  readonly queue: ArenaQueue;
  readonly metrics: ServiceMetrics;
  readonly isStopping: () => boolean;
}

/** Every route that the server has. */
export function serverRoutes({ config, analyser, queue, metrics, isStopping }: RouteParts): readonly Route[] {
  const routes = [
    predictRoute(config, analyser, queue),
    livezRoute,
    readyzRoute(() => analyser.status(), isStopping),
    metricsRoute(metrics),
  ];
  return withDocs(routes, packageVersion);
}
