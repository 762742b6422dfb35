// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { test } from 'node:test';
import { formatsInWords, mediaFormats } from '../../../src/base/errors/media-formats.js';

const or = formatsInWords('or', mediaFormats);
const and = formatsInWords('and', mediaFormats);

for (const [page, list] of [
  ['README.md', or],
  ['docs/api.md', or],
  ['docs/errors.md', and],
] as const) {
  test(`${page} names every container that the server reads`, () => {
    const text = fs.readFileSync(page, 'utf8').replace(/\s+/g, ' ');
    assert.ok(text.includes(list), `${page} lacks: ${list}`);
  });
}

test('every container has a sample that the tests send in', () => {
  const samples = fs.readFileSync('scripts/make-media.mjs', 'utf8');
  for (const { name, extensions } of mediaFormats) {
    const isMade = extensions.some(
      (extension) =>
        samples.includes(`name: '${extension}'`) || samples.includes(`extension: '${extension}'`),
    );
    assert.ok(isMade, `scripts/make-media.mjs makes no ${name}`);
  }
});
