// SPDX-License-Identifier: Apache-2.0
//
// Checks the format of the native sources; --write corrects it. Pinned to one version, as each formats
// differently.
import './needs-node.mjs';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

const major = 14;
const rootDir = path.resolve(import.meta.dirname, '..');

const program = [`clang-format-${major}`, 'clang-format'].find((candidate) => {
  const { status, stdout } = spawnSync(candidate, ['--version'], { encoding: 'utf8' });
  return status === 0 && stdout.includes(`version ${major}.`);
});
if (program === undefined) {
  console.log(`clang-format ${major} is not installed: the format of native/ was not checked.`);
  process.exit();
}

const files = fs
  .readdirSync(path.join(rootDir, 'native'), { recursive: true })
  .filter((file) => /\.(cc|h)$/.test(file))
  .map((file) => path.join('native', file));
const mode = process.argv.includes('--write') ? ['-i'] : ['--dry-run', '--Werror'];
const { status } = spawnSync(program, [...mode, ...files], { cwd: rootDir, stdio: 'inherit' });
process.exitCode = status ?? 1;
