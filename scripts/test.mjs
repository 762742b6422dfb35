// SPDX-License-Identifier: Apache-2.0
//
// The whole test suite; sets the machine up first and stops at the first step that fails.
//
//   npm test
//   npm test -- --only=node            some of the steps: lint, native, fuzz, training, node
//   npm test -- --only=node keys cli   of those, only test files with one of these words in their path
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { rootDir, SetupError } from './setup/step.mjs';
import { runAsProgram, setUp } from './setup.mjs';

const nativeDir = 'build/native-asan';
const mediaDir = path.join(rootDir, 'build/media');
const mutatedFiles = 1500;
const cores = String(os.availableParallelism());

const steps = {
  lint() {
    run('npm', 'run', '--silent', 'lint');
  },

  native() {
    run('cmake', '-S', '.', '-B', nativeDir, '-DVERAVOX_TESTS=ON', '-DVERAVOX_SANITIZE=ON');
    run('cmake', '--build', nativeDir, '--parallel', cores);
    run(process.execPath, 'scripts/make-decoder-media.mjs', mediaDir);
    run('ctest', '--test-dir', nativeDir, '--output-on-failure', '--parallel', cores);
  },

  fuzz() {
    run(process.execPath, 'scripts/fuzz.mjs', '--count', String(mutatedFiles));
  },

  training() {
    const buildDir = 'build/training';
    // The addon that set-up has compiled.
    const stages = path.join(rootDir, 'build/addon/libveravox_stages.a');
    run('cmake', '-S', '.', '-B', buildDir, '-DVERAVOX_SHARED=ON', `-DVERAVOX_STAGES=${stages}`);
    run('cmake', '--build', buildDir, '--parallel', cores, '--target', 'veravox_training');
    // Debian's own Python, the only one with its packages. Tests that need PyTorch say so if it is absent.
    run('/usr/bin/python3', '-m', 'unittest', 'discover', '-s', 'training/tests', '-t', 'training');
  },

  node(nameParts) {
    fs.rmSync(path.join(rootDir, 'build/test'), { recursive: true, force: true });
    run('npx', 'tsc', '-p', 'tsconfig.test.json');
    const testDir = path.join(rootDir, 'build/test/test');
    const files = fs
      .readdirSync(testDir, { recursive: true })
      .filter((file) => file.endsWith('.test.js'))
      .filter((file) => nameParts.length === 0 || nameParts.some((part) => file.includes(part)))
      .map((file) => path.join(testDir, file));
    if (files.length === 0) throw new SetupError(`No test file has ${nameParts.join(' or ')} in its path.`);
    // Tests spend about a fifth of their time waiting. By default Node leaves a core free.
    const atOnce = `--test-concurrency=${os.availableParallelism() + 1}`;
    run(process.execPath, '--enable-source-maps', '--test', atOnce, '--test-reporter=spec', ...files);
  },
};

function run(program, ...args) {
  const env = { ...process.env, VERAVOX_MEDIA_DIR: mediaDir };
  const { status, signal, error } = spawnSync(program, args, { cwd: rootDir, stdio: 'inherit', env });
  if (status === 0) return;
  throw new SetupError(
    `$ ${[program, ...args].join(' ')}\nfailed: ${error?.message ?? signal ?? `exit code ${status}`}`,
  );
}

await runAsProgram(async () => {
  const { values, positionals } = parseArgs({
    options: { only: { type: 'string' } },
    allowPositionals: true,
  });
  const wanted = values.only?.split(',') ?? Object.keys(steps);
  const unknown = wanted.find((name) => !Object.hasOwn(steps, name));
  if (unknown !== undefined) {
    throw new SetupError(`There is no step ${unknown}; the steps are ${Object.keys(steps).join(', ')}.`);
  }
  await setUp({ forTests: true });
  const times = [];
  for (const name of wanted) {
    console.log(`\n== ${name}`);
    const startedMs = performance.now();
    steps[name](positionals);
    times.push(`${name} ${((performance.now() - startedMs) / 1000).toFixed(1)} s`);
  }
  console.log(`\nAll passed: ${times.join(', ')}`);
});
