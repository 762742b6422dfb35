// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { test } from 'node:test';
import { withConfigurationTable } from '../src/config/documentation.js';
import { withMarkedSection } from '../src/config/marked-section.js';
import { options } from '../src/config/options.js';
import { errorReferencePage } from '../src/errors/reference-page.js';
import { reportTable } from '../src/evaluation/report-schema.js';
import { withManifestTables } from '../src/models/manifest-documentation.js';
import { reasonsPage } from '../src/verdict/reasons.js';

const read = (file: string): string => fs.readFileSync(file, 'utf8');

test('the table of settings is what npm run docs would write', () => {
  const page = read('docs/configuration.md');
  assert.equal(page, withConfigurationTable(page));
  for (const { variable } of Object.values(options)) assert.match(page, new RegExp(`\`${variable}\``));
});

test('the table of a report is what npm run docs would write', () => {
  const page = read('docs/evaluate.md');
  assert.equal(page, withMarkedSection(page, reportTable()));
  assert.match(page, /\| `overall\.eer\.threshold` \|/);
});

test('the pages of errors and reasons are what npm run docs would write', () => {
  assert.equal(read('docs/errors.md'), errorReferencePage());
  const { rows } = JSON.parse(read('bench/results/reasons.json'));
  assert.equal(read('docs/reasons.md'), reasonsPage(rows));
});

test('the fields of the manifest are what npm run docs would write', () => {
  const page = read('docs/models.md');
  assert.equal(page, withManifestTables(page));
  for (const field of ['window_samples', 'triangles_on_mel_axis', 'known_answers']) {
    assert.match(page, new RegExp(`^\\| \`${field}\` \\|`, 'm'));
  }
});

test('a page that lost a mark is an error, not silently left as it is', () => {
  assert.throws(() => withConfigurationTable('# A page without marks'), /lacks/);
});
