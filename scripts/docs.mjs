// SPDX-License-Identifier: Apache-2.0
//
// Writes the documentation that is made from the code. Needs dist/.
import fs from 'node:fs';
import path from 'node:path';
import { withConfigurationTable } from '../dist/config/documentation.js';
import { withMarkedSection } from '../dist/config/marked-section.js';
import { errorReferencePage } from '../dist/errors/reference-page.js';
import { reportTable } from '../dist/evaluation/report-schema.js';
import { withManifestTables } from '../dist/models/manifest-documentation.js';
import { clientTypes } from '../dist/openapi/client-types.js';
import { reasonsPage } from '../dist/verdict/reasons.js';

const rootDir = path.resolve(import.meta.dirname, '..');
const inRoot = (name) => path.join(rootDir, name);

const renew = (name, renewed) =>
  fs.writeFileSync(inRoot(name), renewed(fs.readFileSync(inRoot(name), 'utf8')));

renew('docs/configuration.md', withConfigurationTable);
renew('docs/evaluate.md', (page) => withMarkedSection(page, reportTable()));
fs.writeFileSync(inRoot('docs/errors.md'), errorReferencePage());
renew('docs/models.md', withManifestTables);
const { rows } = JSON.parse(fs.readFileSync(inRoot('bench/results/reasons.json'), 'utf8'));
fs.writeFileSync(inRoot('docs/reasons.md'), reasonsPage(rows));
fs.writeFileSync(inRoot('src/client/types.ts'), clientTypes());
