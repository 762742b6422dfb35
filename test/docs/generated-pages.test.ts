// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { test } from 'node:test';
import { withConfigurationTable } from '../../scripts/docs/configuration-table.js';
import { pages } from '../../scripts/docs/pages.js';
import { options } from '../../src/base/config/options.js';

const read = (file: string): string => fs.readFileSync(file, 'utf8');

for (const { file, renewed } of pages) {
  test(`${file} is what npm run docs would write`, async () => {
    const page = read(file);
    assert.equal(page, await renewed(page));
  });
}

/** Proof that the generators omit nothing: they may agree with an incomplete page. */
const promised: Readonly<Record<string, readonly string[]>> = {
  'docs/configuration.md': Object.values(options).map(({ variable }) => variable),
  'docs/evaluate.md': ['overall.eer.threshold'],
  'docs/models.md': ['window_samples', 'triangles_on_mel_axis', 'known_answers'],
};

for (const [file, names] of Object.entries(promised)) {
  test(`${file} has a row for each name`, () => {
    const page = read(file);
    for (const name of names) assert.match(page, new RegExp(`^\\| \`${name}\` \\|`, 'm'));
  });
}

test('a page that lost a mark is an error, not silently left as it is', () => {
  assert.throws(() => withConfigurationTable('# A page without marks'), /lacks/);
});
