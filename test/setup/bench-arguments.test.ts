// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

function clipMeasures(...args: string[]) {
  const file = fileURLToPath(new URL('../../bench/clip-measures.js', import.meta.url));
  const { PATH = '' } = process.env;
  return spawnSync(process.execPath, [file, ...args], { env: { PATH }, encoding: 'utf8' });
}

test('--help prints the usage', () => {
  const { status, stdout, stderr } = clipMeasures('--help');
  assert.match(stdout, /^Usage: npm run bench clip-measures .*\n$/);
  assert.deepEqual([status, stderr], [0, '']);
});

for (const args of [[], ['--unknown']]) {
  test(`${['clip-measures', ...args].join(' ')} is wrong usage, without a stack trace`, () => {
    const { status, stderr } = clipMeasures(...args);
    assert.match(stderr, /^.+\nUsage: .+\n$/);
    assert.equal(status, 2);
  });
}
