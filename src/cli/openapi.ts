// SPDX-License-Identifier: Apache-2.0
import type { Command } from 'commander';
import type { Analyser } from '../analyser/analyser.js';
import { loadConfig } from '../config/load-config.js';
import { packageVersion } from '../config/package-dir.js';
import { loadManifest } from '../models/manifest.js';
import { openApiDocument } from '../openapi/document.js';
import { OperatingPoints } from '../operating-points/operating-points.js';
import { modelStatus } from '../pipeline/model-status.js';
import { ServedModels } from '../service/served-models.js';
import { serverRoutes } from '../service/server-routes.js';

export function addOpenApiCommand(program: Command): void {
  program
    .command('openapi')
    .description('Print the OpenAPI 3.1 document that a server with these settings answers at /openapi.json.')
    .action(printDocument);
}

/** What only serving needs. */
const unused = {} as never;
const neverCalled = (): never => {
  throw new Error('This is a bug: a route was called while it was only to be described.');
};

async function printDocument(): Promise<void> {
  const config = loadConfig(process.env);
  const { models } = await loadManifest(config.modelsDir);
  // The routes describe themselves by the models' ids; none of them runs.
  const analyser: Analyser = {
    status: () => ({ ready: false, provider: 'cpu', ...modelStatus(models) }),
    analyse: neverCalled,
    embed: neverCalled,
    close: neverCalled,
  };
  const routes = serverRoutes({
    config,
    models: new ServedModels(analyser),
    intake: { queue: unused, fetcher: unused },
    largeFilePermits: unused,
    files: {
      storage: unused,
      folderOf: neverCalled,
      embedded: config.storageBucket === '' ? unused : undefined,
    },
    operatingPoints: OperatingPoints.load(config.dataDir),
    metrics: unused,
    log: unused,
    isStopping: neverCalled,
  });
  process.stdout.write(`${JSON.stringify(openApiDocument(routes, packageVersion), null, 2)}\n`);
}
