// SPDX-License-Identifier: Apache-2.0
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { packageDir } from '../../src/base/config/package-dir.js';

export interface ServerProcess {
  readonly port: number;
  readonly apiKey: string;
  readonly pid: number;
  /** Resolves with the way it ended, whatever ended it. */
  readonly exited: Promise<string>;
  stop(): Promise<void>;
}

export interface ServerProcessOptions {
  /** Destination of the log; discarded by default. */
  readonly logFile?: string | undefined;
  /** Processors it may use, in the form of taskset; default all. */
  readonly cpus?: string;
  /** The main module, perhaps of another checkout. */
  readonly main?: string;
}

const cli = join(packageDir, 'dist/cli/main.js');

/** Creates a key for the server with this data folder, valid within a second. */
export function createKey(dataDir: string, main = cli): string {
  return execFileSync(process.execPath, [main, 'keys', 'create'], {
    env: { ...process.env, VERAVOX_DATA_DIR: dataDir },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim();
}

/** Starts the real server as an operator would, on a free port, with a key of its own. */
export async function startServer(
  dataDir: string,
  settings: Readonly<Record<string, string>> = {},
  { logFile, cpus, main = cli }: ServerProcessOptions = {},
): Promise<ServerProcess> {
  const env = {
    ...process.env,
    PORT: '0',
    VERAVOX_DATA_DIR: dataDir,
    VERAVOX_DEVICE: 'cpu',
    VERAVOX_STOP_GRACE_MS: '0',
    ...settings,
  };
  const apiKey = createKey(dataDir, main);
  const [program = '', ...args] = [
    ...(cpus === undefined ? [] : ['taskset', '-c', cpus]),
    ...[process.execPath, main, 'serve'],
  ];
  const server = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(server, 'exit').then(([code, signal]) => String(signal ?? `exit code ${code}`));
  for await (const line of createInterface({ input: server.stdout })) {
    const port = /"port":(\d+),"msg":"listening"/.exec(line)?.[1];
    if (port === undefined) continue;
    if (logFile === undefined) server.stdout.resume();
    else server.stdout.pipe(createWriteStream(logFile));
    const stop = async () => {
      server.kill('SIGTERM');
      await exited;
    };
    return { port: Number(port), apiKey, pid: server.pid as number, exited, stop };
  }
  throw new Error('The server ended before it listened.');
}
