// SPDX-License-Identifier: Apache-2.0
import type { Command } from 'commander';
import { loadManifest } from '../analysis/models/model-file.js';
import { modelStatus } from '../analysis/pipeline/model-status.js';
import { openApiDocument } from '../api/openapi/document.js';
import { loadConfig } from '../base/config/load-config.js';
import { packageVersion } from '../base/config/package-dir.js';
import { publicPath } from '../base/config/public-path.js';
import { adminEndpoints } from '../console/contract/admin-endpoints.js';
import { jobEndpoints } from '../jobs/contract/job-endpoints.js';
import { endpoints } from '../service/endpoints.js';
import { printJson } from './output.js';

export function addOpenApiCommand(program: Command): void {
  program
    .command('openapi')
    .description('Print the OpenAPI 3.1 document that a server with these settings serves at /openapi.json.')
    .action(printDocument);
}

async function printDocument(): Promise<void> {
  const config = loadConfig(process.env);
  const manifest = await loadManifest(config.modelsDir);
  const { detectors } = modelStatus(manifest.models);
  const wings = [
    { endpoints: jobEndpoints },
    ...(config.dashboard === 'on' ? [{ endpoints: () => adminEndpoints }] : []),
  ];
  const document = openApiDocument(endpoints(config, detectors, wings), packageVersion, publicPath(config));
  printJson(document, 2);
}
