// SPDX-License-Identifier: Apache-2.0
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const main = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url));

export interface Finished {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CliOptions extends Pick<SpawnOptions, 'cwd' | 'stdio'> {
  /** A running `veravox`, with its arguments. */
  readonly runner?: readonly string[];
  /** Piped input; nothing by default. */
  readonly input?: Uint8Array;
}

/** A running `veravox` whose only settings are `env`: commands that write data need a folder from it. */
export class Cli {
  readonly child: ChildProcess;
  stdout = '';
  stderr = '';
  readonly finished: Promise<Finished>;

  constructor(
    args: readonly string[],
    env: Readonly<Record<string, string>> = {},
    { runner = [], input, ...options }: CliOptions = {},
  ) {
    const { PATH = '' } = process.env;
    const settings = {
      PATH,
      VERAVOX_DEVICE: 'cpu',
      VERAVOX_PREPARE_THREADS: '1',
      VERAVOX_SCORING_THREADS: '1',
      VERAVOX_STOP_GRACE_MS: '0',
      ...env,
    };
    const [program = '', ...rest] = [...runner, process.execPath, main, ...args];
    const stdin = input === undefined ? 'ignore' : 'pipe';
    this.child = spawn(program, rest, { env: settings, stdio: [stdin, 'pipe', 'pipe'], ...options });
    // A command may end without reading all of it.
    this.child.stdin?.on('error', () => {}).end(input);
    this.child.stdout?.on('data', (chunk) => {
      this.stdout += chunk;
    });
    this.child.stderr?.on('data', (chunk) => {
      this.stderr += chunk;
    });
    this.finished = once(this.child, 'close').then(([status]) => ({
      status: status as number | null,
      stdout: this.stdout,
      stderr: this.stderr,
    }));
  }

  /** Resolves when `pattern` is in the output; rejects if the program ends without it. */
  async printed(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const found = pattern.exec(this.stdout);
      if (found) return found;
      const data = once(this.child.stdout as NodeJS.EventEmitter, 'data');
      const ended = await Promise.race([data.then(() => undefined), this.finished]);
      if (ended && !pattern.test(this.stdout)) {
        throw new Error(
          `It ended with ${ended.status} before it printed ${pattern}:\n${ended.stdout}${ended.stderr}`,
        );
      }
    }
  }
}

export function runCli(
  args: readonly string[],
  env?: Readonly<Record<string, string>>,
  options?: CliOptions,
): Promise<Finished> {
  return new Cli(args, env, options).finished;
}

/** `veravox models` for the models of a folder, with its data folder there. */
export const runModels = (folder: string, ...args: readonly string[]): Promise<Finished> =>
  runCli(['models', ...args, '--models-dir', folder], { VERAVOX_DATA_DIR: path.join(folder, 'data') });

export { temporaryFolder } from './temporary-folder.js';
