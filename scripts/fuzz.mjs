// SPDX-License-Identifier: Apache-2.0
// Builds the mutation fuzzer with AddressSanitizer (leaks included) and UndefinedBehaviorSanitizer, and runs it over
// short files of every format.
//
// node scripts/fuzz.mjs [--count 20000] [--seed 1] [--deadline-ms 2000] [--build build/native-asan]
// [--media build/media]
// [--only INPUT --write FILE] repeats one input of a run with the same seed and keeps it.
import './needs-node.mjs';
import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { makeDecoderMedia } from './make-decoder-media.mjs';
import { makeMedia } from './make-media.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const CLIP = fileURLToPath(new URL('../test/fixtures/human-lj-a.flac', import.meta.url));

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '20000' },
    seed: { type: 'string', default: '1' },
    'deadline-ms': { type: 'string', default: '2000' },
    build: { type: 'string', default: join(ROOT, 'build', 'native-asan') },
    media: { type: 'string', default: join(ROOT, 'build', 'media') },
    only: { type: 'string' },
    write: { type: 'string' },
  },
});

function run(command, args, env = {}) {
  return new Promise((done, fail) => {
    const child = spawn(command, args, { stdio: 'inherit', env: { ...process.env, ...env } });
    child.on('error', fail);
    child.on('exit', (code, signal) => {
      if (code === 0) done();
      else fail(new Error(`${command} ended with ${signal ?? `exit code ${code}`}`));
    });
  });
}

/**
 * Half a second of every format is enough for every header and some packets, and keeps the run short; the less
 * common codecs come from the decoder tests. The order is fixed, so that a number identifies an input.
 */
async function makeSeedFiles(directory) {
  const common = await makeMedia({ clip: CLIP, directory, seconds: 0.5, rates: [16000, 48000] });
  const index = await readFile(await makeDecoderMedia(directory), 'utf8');
  const special = index
    .split('\n')
    .map((line) => line.split('\t'))
    .filter(([kind]) => kind === 'special')
    .map(([, file]) => join(directory, file));
  return [...common.map(({ file }) => file), ...special].sort();
}

async function buildFuzzer(directory) {
  await run('cmake', ['-S', ROOT, '-B', directory, '-DVERAVOX_TESTS=ON', '-DVERAVOX_SANITIZE=ON']);
  const target = ['--target', 'veravox_mutation_fuzzer'];
  await run('cmake', ['--build', directory, ...target, '-j', String(availableParallelism())]);
  return join(directory, 'veravox_mutation_fuzzer');
}

const build = resolve(values.build);
try {
  const fuzzer = await buildFuzzer(build);
  const seeds = await makeSeedFiles(resolve(values.media));
  const passedOn = ['count', 'seed', 'deadline-ms', 'only', 'write'].filter(
    (name) => values[name] !== undefined,
  );
  const args = passedOn.flatMap((name) => [`--${name}`, values[name]]);
  await run(fuzzer, [...args, ...seeds], {
    ASAN_OPTIONS:
      'detect_leaks=1:allocator_may_return_null=1:strict_string_checks=1:detect_stack_use_after_return=1',
    UBSAN_OPTIONS: 'print_stacktrace=1',
  });
} catch (error) {
  console.error(error.message);
  process.exit(1);
}
