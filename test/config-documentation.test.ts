// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { test } from 'node:test';
import { withConfigurationTable } from '../src/config/documentation.js';
import { options } from '../src/config/options.js';

test('the table of settings in the README is what npm run docs would write', () => {
  const readme = fs.readFileSync('README.md', 'utf8');
  assert.equal(readme, withConfigurationTable(readme));
  for (const { variable } of Object.values(options)) assert.match(readme, new RegExp(`\`${variable}\``));
});

test('a page that lost a mark is an error, not silently left as it is', () => {
  assert.throws(() => withConfigurationTable('# A page without marks'), /lacks/);
});
