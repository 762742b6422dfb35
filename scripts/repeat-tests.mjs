// SPDX-License-Identifier: Apache-2.0
//
// Finds tests that depend on the load of the machine: runs the Node tests under load until they have passed several times in a row.
// Ends at the first run that fails. Hours for the whole suite, so this is not a part of `npm test`.
//
//   node scripts/repeat-tests.mjs                 five times at a load of eight
//   node scripts/repeat-tests.mjs jobs --times=2  only test files with this word in their path, twice
//   node scripts/repeat-tests.mjs --load=20       beside twenty busy processes
import { spawn, spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { rootDir, SetupError } from './setup/step.mjs';
import { runAsProgram } from './setup.mjs';

function wholeNumber(name, text) {
  if (/^[1-9]\d{0,2}$/.test(text)) return Number(text);
  throw new SetupError(`Expected a whole number from 1 to 999 for --${name}, but received ${text}.`);
}

await runAsProgram(async () => {
  const { values, positionals } = parseArgs({
    options: { times: { type: 'string', default: '5' }, load: { type: 'string', default: '8' } },
    allowPositionals: true,
  });
  const times = wholeNumber('times', values.times);
  const load = wholeNumber('load', values.load);
  const busy = Array.from({ length: load }, () =>
    // Ends with this process, however it ends.
    spawn(
      process.execPath,
      [
        '-e',
        'process.on("disconnect", () => process.exit()); (function work() { const endMs = Date.now() + 50; while (Date.now() < endMs); setImmediate(work); })()',
      ],
      {
        stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      },
    ),
  );
  try {
    for (let run = 1; run <= times; run++) {
      console.log(`\n== run ${run} of ${times}, load ${load}`);
      const args = ['scripts/test.mjs', '--only=node', ...positionals];
      const { status } = spawnSync(process.execPath, args, { cwd: rootDir, stdio: 'inherit' });
      if (status !== 0) throw new SetupError(`Run ${run} of ${times} failed at a load of ${load}.`);
    }
    console.log(`\nPassed ${times} times in a row at a load of ${load}.`);
  } finally {
    for (const child of busy) child.kill();
  }
});
