// SPDX-License-Identifier: Apache-2.0
import type { ServedModels } from '../analysis/served/served-models.js';
import { openApiDocument } from '../api/openapi/document.js';
import { docsRoutes } from '../api/routes/docs.js';
import { healthRoutes, type Surroundings } from '../api/routes/health.js';
import { largeFileRoute } from '../api/routes/large-file.js';
import { legacyPredictRoute } from '../api/routes/legacy-predict.js';
import { linkRoutes } from '../api/routes/links.js';
import { metricsRoute } from '../api/routes/metrics.js';
import { predictRoute } from '../api/routes/predict.js';
import type { ProfileStore } from '../api/routes/profile-bodies.js';
import { profileRoutes } from '../api/routes/profiles.js';
import { rootRoute } from '../api/routes/root.js';
import type { Route } from '../api/routes/route.js';
import { storedFileRoutes } from '../api/routes/stored-file.js';
import { streamRoutes } from '../api/routes/stream.js';
import { voiceRoutes } from '../api/routes/voiceid.js';
import type { Wing } from '../api/routes/wing.js';
import type { Config } from '../base/config/options.js';
import { packageVersion } from '../base/config/package-dir.js';
import { publicPath } from '../base/config/public-path.js';
import { largeFileModels } from '../base/contract/model-ids.js';
import type { Logger } from '../base/observe/log.js';
import type { ServiceMetrics } from '../base/observe/service-metrics.js';
import type { JobsWing } from '../jobs/jobs-wing.js';
import type { OperatingPoints } from '../state/operating-points/operating-points.js';
import type { FileStore } from '../state/storage/open-storage.js';
import { endpoints } from './endpoints.js';
import type { Front } from './front.js';

export interface RouteParts extends Surroundings {
  readonly config: Config;
  readonly models: ServedModels;
  readonly operatingPoints: OperatingPoints;
  readonly profiles: ProfileStore;
  readonly front: Front;
  readonly files: FileStore;
  readonly wings: readonly Wing[];
  /** Makes jobs of uploads. */
  readonly jobs: Pick<JobsWing, 'onStored' | 'onUploadLinks'>;
  readonly hasDashboard: boolean;
  readonly metrics: ServiceMetrics;
  readonly log: Logger;
}

/** Routes open to strangers: without an admin address, all. */
export function publicRoutes(
  routes: readonly Route[],
  config: Config,
  { embedded }: FileStore,
): readonly Route[] {
  if (config.adminAddress === undefined) return routes;
  return routes
    .filter((route) => !route.isForOperators)
    .map((route) =>
      route.path === '/' ? rootRoute({ hasDocs: false, hasDashboard: false }, embedded) : route,
    );
}

/** Every route that a server made of these parts has. */
export function serverRoutes(parts: RouteParts): readonly Route[] {
  const { config, models, front, files, operatingPoints: points, wings, jobs, metrics, log } = parts;
  const { intake, largeFilePermits, streams } = front;
  const { analyser } = models;
  const { detectors } = analyser.status();
  const analysing: Route[] = [
    predictRoute(config, analyser, intake, points),
    ...(largeFileModels(detectors).length > 0
      ? [
          largeFileRoute(config, analyser, intake, largeFilePermits, points, log),
          legacyPredictRoute('/v0/predict', config, analyser, intake),
          legacyPredictRoute('/predict', config, analyser, intake),
        ]
      : []),
    ...profileRoutes({
      ...{ config, analyser, profiles: parts.profiles },
      ...{ queue: intake.queue, permits: largeFilePermits },
    }),
    ...voiceRoutes({ config, analyser, queue: intake.queue, points }),
  ];
  return [
    ...analysing.map((route) => ({ ...route, models })),
    ...streamRoutes({ ...streams, config, analyser, models, points, isStopping: parts.isStopping }),
    ...linkRoutes(config, files, jobs.onUploadLinks),
    ...(files.embedded ? storedFileRoutes(config, files.embedded, jobs.onStored(detectors)) : []),
    ...wings.flatMap((wing) => wing.routes(models, points)),
    ...healthRoutes(() => models.status(), parts),
    metricsRoute(metrics),
    rootRoute({ hasDocs: true, hasDashboard: parts.hasDashboard }, files.embedded),
    ...docsRoutes(() =>
      openApiDocument(endpoints(config, detectors, wings), packageVersion, publicPath(config)),
    ),
  ];
}
