// SPDX-License-Identifier: Apache-2.0
//
// Writes the documentation that is made from the code. Needs dist/.
import fs from 'node:fs';
import path from 'node:path';
import { withConfigurationTable } from '../dist/config/documentation.js';
import { errorReferencePage } from '../dist/errors/reference-page.js';
import { withManifestTables } from '../dist/models/manifest-documentation.js';
import { clientTypes } from '../dist/openapi/client-types.js';
import { reasonsPage } from '../dist/verdict/reasons.js';

const rootDir = path.resolve(import.meta.dirname, '..');
const inRoot = (name) => path.join(rootDir, name);

fs.writeFileSync(inRoot('README.md'), withConfigurationTable(fs.readFileSync(inRoot('README.md'), 'utf8')));
fs.mkdirSync(inRoot('docs'), { recursive: true });
fs.writeFileSync(inRoot('docs/errors.md'), errorReferencePage());
fs.writeFileSync(
  inRoot('docs/models.md'),
  withManifestTables(fs.readFileSync(inRoot('docs/models.md'), 'utf8')),
);
fs.writeFileSync(inRoot('docs/reasons.md'), reasonsPage());
fs.writeFileSync(inRoot('src/client/types.ts'), clientTypes());
