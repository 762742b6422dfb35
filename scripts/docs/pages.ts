// SPDX-License-Identifier: Apache-2.0
import fs from 'node:fs';
import path from 'node:path';
import { packageDir } from '../../src/base/config/package-dir.js';
import { withConfigurationTable } from './configuration-table.js';
import { errorReferencePage } from './error-page.js';
import { importDrawing } from './import-drawing.js';
import { withManifestTables } from './manifest-tables.js';
import { withMarkedSection } from './marked-section.js';
import { metricsTables } from './metrics-page.js';
import { pythonSyncClient, pythonTypes } from './python-client.js';
import { reasonTexts } from './reason-texts.js';
import { reasonsPage } from './reasons-page.js';
import { reportFormat } from './report-format.js';
import { reportTable } from './report-table.js';

export interface Page {
  /** Path in the repository. */
  readonly file: string;
  /** The up-to-date page, from the page as it is. */
  readonly renewed: (page: string) => string | Promise<string>;
}

/** Pages that are generated, in whole or in part. */
export const pages: readonly Page[] = [
  { file: 'clients/python/src/veravox_client/_sync_client.py', renewed: pythonSyncClient },
  { file: 'clients/python/src/veravox_client/_types.py', renewed: pythonTypes },
  { file: 'dashboard/src/logic/reason-texts.ts', renewed: reasonTexts },
  { file: 'dashboard/src/logic/report-format.ts', renewed: reportFormat },
  {
    file: 'docs/architecture.md',
    renewed: async (page) => withMarkedSection(page, await importDrawing()),
  },
  { file: 'docs/configuration.md', renewed: withConfigurationTable },
  { file: 'docs/evaluate.md', renewed: (page) => withMarkedSection(page, reportTable()) },
  { file: 'docs/errors.md', renewed: errorReferencePage },
  { file: 'docs/metrics.md', renewed: (page) => withMarkedSection(page, metricsTables()) },
  { file: 'docs/models.md', renewed: withManifestTables },
  { file: 'docs/reasons.md', renewed: reasonsPageOfResults },
];

function reasonsPageOfResults(): string {
  const json = (file: string) => JSON.parse(fs.readFileSync(path.join(packageDir, file), 'utf8'));
  const entries: readonly { id: string; abstention?: object }[] = json('models/manifest.json').models;
  const abstentions = entries.flatMap(({ id, abstention }) =>
    abstention === undefined ? [] : [{ id, ...json(`training/shipped/${id}/abstention.json`) }],
  );
  const { rows } = json('bench/results/reasons.json');
  return reasonsPage(rows, abstentions);
}
