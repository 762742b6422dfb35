// SPDX-License-Identifier: Apache-2.0
import { spawn } from 'node:child_process';
import path from 'node:path';
import { VeravoxClient } from '../../../client/src/client.js';
import { packageDir } from '../../../src/base/config/package-dir.js';

export const cli = path.join(packageDir, 'dist/cli/main.js');

export interface KillableServer {
  /** Resolves when it is gone. */
  kill(): Promise<void>;
  clientOf(apiKey: string): VeravoxClient;
}

export async function startServer(env: NodeJS.ProcessEnv): Promise<KillableServer> {
  const child = spawn(process.execPath, [cli, 'serve'], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  let output = '';
  const port = await new Promise<number>((resolve, reject) => {
    const read = (chunk: Buffer): void => {
      output += chunk;
      const found = /is (?:ready|running) on \S+:(\d+)/.exec(output)?.[1];
      if (found !== undefined) resolve(Number(found));
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    void ended.then(() => reject(new Error(`The server did not start: ${output.slice(-1000)}`)));
  });
  output = '';
  return {
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
    clientOf: (apiKey) => new VeravoxClient({ baseUrl: `http://127.0.0.1:${port}`, apiKey, maxRetries: 0 }),
  };
}
