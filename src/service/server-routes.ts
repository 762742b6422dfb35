// SPDX-License-Identifier: Apache-2.0

import type { ServedModels } from '../analysis/served/served-models.js';
import type { BytePermits } from '../api/admission/byte-permits.js';
import { openApiDocument } from '../api/openapi/document.js';
import type { FileIntake } from '../api/routes/analysis-input.js';
import { docsRoutes } from '../api/routes/docs.js';
import { healthRoutes } from '../api/routes/health.js';
import { largeFileRoute } from '../api/routes/large-file.js';
import { legacyPredictRoute } from '../api/routes/legacy-predict.js';
import { linkRoutes } from '../api/routes/links.js';
import { metricsRoute } from '../api/routes/metrics.js';
import { predictRoute } from '../api/routes/predict.js';
import { rootRoute } from '../api/routes/root.js';
import type { Route } from '../api/routes/route.js';
import { storedFileRoutes } from '../api/routes/stored-file.js';
import { type SharedStreamParts, streamRoutes } from '../api/routes/stream.js';
import { voiceRoutes } from '../api/routes/voiceid.js';
import type { Config } from '../base/config/options.js';
import { packageVersion } from '../base/config/package-dir.js';
import { publicPath } from '../base/config/public-path.js';
import { largeFileModels } from '../base/contract/model-ids.js';
import type { Logger } from '../base/observe/log.js';
import type { ServiceMetrics } from '../base/observe/service-metrics.js';
import { adminEndpoints } from '../console/contract/admin-endpoints.js';
import { dashboardRoutes } from '../console/pages/dashboard-routes.js';
import type { AdminParts } from '../console/routes/admin-parts.js';
import { adminRoutes } from '../console/routes/admin-routes.js';
import type { AwaitedUploads } from '../jobs/queue/awaited-uploads.js';
import { type JobRoutesParts, jobRoutes } from '../jobs/routes/jobs.js';
import { uploadJobs, uploadsToAwait } from '../jobs/routes/upload-jobs.js';
import type { DatabaseState } from '../state/database/database.js';
import type { OperatingPoints } from '../state/operating-points/operating-points.js';
import type { FileStore } from '../state/storage/open-storage.js';
import { endpoints } from './endpoints.js';

export interface RouteParts {
  readonly config: Config;
  readonly models: ServedModels;
  readonly intake: FileIntake;
  readonly largeFilePermits: BytePermits;
  readonly files: FileStore;
  readonly operatingPoints: OperatingPoints;
  readonly jobs: Pick<
    JobRoutesParts,
    'jobs' | 'policy' | 'callbackPolicy' | 'refuseAddress' | 'watch' | 'stopping'
  >;
  /** Of a bucket. */
  readonly awaitedUploads: AwaitedUploads | undefined;
  readonly streams: SharedStreamParts;
  /** Absent without a dashboard. */
  readonly admin: AdminParts | undefined;
  readonly metrics: ServiceMetrics;
  readonly log: Logger;
  readonly isStopping: () => boolean;
  readonly databaseState: () => DatabaseState;
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
  const { config, models, intake, largeFilePermits, files, operatingPoints, jobs, metrics } = parts;
  const { analyser } = models;
  const { detectors } = analyser.status();
  const hasDashboard = config.dashboard === 'on';
  const analysing: Route[] = [
    predictRoute(config, analyser, intake, operatingPoints),
    ...(largeFileModels(detectors).length > 0
      ? [
          largeFileRoute(config, analyser, intake, largeFilePermits, parts.log),
          legacyPredictRoute('/v0/predict', config, analyser, intake),
          legacyPredictRoute('/predict', config, analyser, intake),
        ]
      : []),
    ...voiceRoutes({ config, analyser, queue: intake.queue, points: operatingPoints }),
  ];
  const { admin } = parts;
  const offered = () => [...endpoints(config, detectors), ...(admin ? adminEndpoints : [])];
  return [
    ...analysing.map((route) => ({ ...route, models })),
    ...jobRoutes({ ...jobs, config, analyser, points: operatingPoints, files }),
    ...streamRoutes({
      ...parts.streams,
      config,
      analyser,
      models,
      points: operatingPoints,
      isStopping: parts.isStopping,
    }),
    ...linkRoutes(config, files, uploadsToAwait(config, parts.awaitedUploads)),
    ...(files.embedded
      ? storedFileRoutes(config, files.embedded, uploadJobs(config, jobs.jobs, detectors, files.home))
      : []),
    ...healthRoutes(() => models.status(), parts),
    metricsRoute(metrics),
    rootRoute({ hasDocs: true, hasDashboard }, files.embedded),
    ...(hasDashboard ? dashboardRoutes() : []),
    ...(admin ? adminRoutes({ ...admin, jobs, points: operatingPoints }) : []),
    ...docsRoutes(() => openApiDocument(offered(), packageVersion, publicPath(config))),
  ];
}
