// SPDX-License-Identifier: Apache-2.0
import type { Command } from 'commander';
import { loadConfig } from '../config/load-config.js';
import { packageVersion } from '../config/package-dir.js';
import { endpoints } from '../contract/endpoints.js';
import { loadManifest } from '../models/manifest.js';
import { openApiDocument } from '../openapi/document.js';
import { modelStatus } from '../pipeline/model-status.js';

export function addOpenApiCommand(program: Command): void {
  program
    .command('openapi')
    .description('Print the OpenAPI 3.1 document that a server with these settings answers at /openapi.json.')
    .action(printDocument);
}

async function printDocument(): Promise<void> {
  const config = loadConfig(process.env);
  const manifest = await loadManifest(config.modelsDir);
  const { models } = modelStatus(manifest.models);
  const document = openApiDocument(endpoints(config, models), packageVersion);
  process.stdout.write(`${JSON.stringify(document, null, 2)}\n`);
}
