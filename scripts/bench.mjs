// SPDX-License-Identifier: Apache-2.0
//
// Runs one of the benchmarks in bench/; sets the machine up first.
//
//   node scripts/bench.mjs stages|throughput|abuse|large-file|multipart|voiceid|voiceid-refusals|clip-measures|reasons|guard|http-fuzz|soak|stream|tracing|kill-loop|jobs|asynchronous-flow|database|proxies|imported-models|first-view|dashboard-frames|scaling [options of the benchmark]
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { rootDir } from './setup/step.mjs';
import { runAsProgram, setUp } from './setup.mjs';

await runAsProgram(async () => {
  const [name, ...options] = process.argv.slice(2);
  await setUp({ forTests: true });
  const run = (program, ...args) => {
    const { status } = spawnSync(program, args, { cwd: rootDir, stdio: 'inherit' });
    if (status !== 0) process.exit(status ?? 1);
  };
  run('npx', 'tsc', '-p', 'tsconfig.test.json');
  run(process.execPath, path.join(rootDir, 'build/test/bench', `${name}.js`), ...options);
});
