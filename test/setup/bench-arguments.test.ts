// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

function bench(name: string, ...args: string[]) {
  const file = fileURLToPath(new URL(`../bench/${name}.js`, import.meta.url));
  const { PATH = '' } = process.env;
  return spawnSync(process.execPath, [file, ...args], { env: { PATH }, encoding: 'utf8' });
}

for (const name of ['clip-measures', 'voiceid-refusals']) {
  test(`${name} --help prints the usage`, () => {
    const { status, stdout, stderr } = bench(name, '--help');
    assert.match(stdout, new RegExp(`^Usage: .*node scripts/bench\\.mjs ${name} .*\\n$`));
    assert.deepEqual([status, stderr], [0, '']);
  });

  for (const args of [[], ['--unknown']]) {
    test(`${[name, ...args].join(' ')} is wrong usage, without a stack trace`, () => {
      const { status, stderr } = bench(name, ...args);
      assert.match(stderr, /^.+\nUsage: .+\n$/);
      assert.equal(status, 2);
    });
  }
}
