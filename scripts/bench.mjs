// SPDX-License-Identifier: Apache-2.0
//
// Runs one of the benchmarks in bench/ or one of the long tests in test/long/; sets the machine up first.
//
//   npm run bench NAME [-- options]
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { rootDir, SetupError } from './setup/step.mjs';
import { runAsProgram, setUp } from './setup.mjs';

/** Programs by name; the folders beside them hold their parts. */
function programs() {
  const found = ['bench', 'test/long'].flatMap((folder) =>
    fs
      .readdirSync(path.join(rootDir, folder))
      .filter((file) => file.endsWith('.ts'))
      .map((file) => [file.slice(0, -'.ts'.length), path.join(folder, file)]),
  );
  return new Map(found);
}

await runAsProgram(async () => {
  const [name, ...options] = process.argv.slice(2);
  const all = programs();
  const file = all.get(name);
  if (file === undefined)
    throw new SetupError(`Expected one of these names: ${[...all.keys()].sort().join(', ')}.`);
  await setUp({ forTests: true });
  const run = (program, ...args) => {
    const { status } = spawnSync(program, args, { cwd: rootDir, stdio: 'inherit' });
    if (status !== 0) process.exit(status ?? 1);
  };
  run('npx', 'tsc', '-p', 'tsconfig.test.json');
  run(process.execPath, path.join(rootDir, 'build/test', file.replace(/\.ts$/, '.js')), ...options);
});
