// SPDX-License-Identifier: Apache-2.0
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

// Without import.meta.dirname, which Node lacks before 20.11.
export const rootDir = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');

/** A failed set-up step with a reason that the operator can act on; `message` is complete. */
export class SetupError extends Error {}

/**
 * Runs a program in the repository's root.
 * @returns standard output
 */
export function run(program, ...args) {
  const { status, stdout, stderr, error } = spawnSync(program, args, { cwd: rootDir, encoding: 'utf8' });
  if (status === 0) return stdout;
  throw new SetupError(`$ ${[program, ...args].join(' ')}\n${error?.message ?? `${stdout}${stderr}`}`);
}

/**
 * Runs `commands` (each `[program, ...args]`) one after another in the repository's root and prints one line:
 * the current step and, at the end, its duration. Their output is shown only if one of them fails.
 */
export async function runStep(title, commands, env = {}) {
  const startedMs = performance.now();
  process.stdout.write(`set-up: ${title} ... `);
  for (const [program, ...args] of commands) {
    const { code, output } = await runInBackground(program, args, env);
    if (code !== 0) {
      process.stdout.write('failed\n');
      throw new SetupError(
        `$ ${[program, ...args].join(' ')}\n${output}\nset-up: ${title} failed (exit code ${code}).`,
      );
    }
  }
  process.stdout.write(`${((performance.now() - startedMs) / 1000).toFixed(1)} s\n`);
}

async function runInBackground(program, args, env) {
  const child = spawn(program, args, {
    cwd: rootDir,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const chunks = [];
  child.stdout.on('data', (chunk) => chunks.push(chunk));
  child.stderr.on('data', (chunk) => chunks.push(chunk));
  try {
    const [code, signal] = await once(child, 'close');
    return { code: code ?? signal, output: Buffer.concat(chunks).toString() };
  } catch (error) {
    return { code: error.code, output: error.message };
  }
}
