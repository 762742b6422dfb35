// SPDX-License-Identifier: Apache-2.0
//
// Copies the parts of Swagger UI for the page at /docs to dist/, so that running veravox needs neither the rest of
// that package nor the telemetry that it depends on.
import './needs-node.mjs';
import fs from 'node:fs';
import path from 'node:path';

const rootDir = path.resolve(import.meta.dirname, '..');
const from = path.join(rootDir, 'node_modules/swagger-ui-dist');
const to = path.join(rootDir, 'dist/docs-page');
const files = [
  'swagger-ui-bundle.js',
  'swagger-ui-bundle.js.LICENSE.txt',
  'swagger-ui.css',
  'LICENSE',
  'NOTICE',
];

fs.mkdirSync(to, { recursive: true });
for (const file of files) fs.copyFileSync(path.join(from, file), path.join(to, file));
