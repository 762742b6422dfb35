// SPDX-License-Identifier: Apache-2.0
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { VeravoxClient } from '../../client/src/client.js';
import { loadStorageSecrets } from '../../src/state/storage/storage-secrets.js';
import type { PostgresServer } from '../../test/support/postgres.js';
import { cli } from '../kill-loop/server.js';

/** A server or a worker with a data folder of its own, that can be killed and started again. */
export class Host {
  readonly #command: 'serve' | 'work';
  readonly #env: Readonly<Record<string, string>>;
  #kill = async (): Promise<void> => {};
  /** Of a server. */
  baseUrl = '';
  /** That its first start made. */
  firstKey = '';

  constructor(command: 'serve' | 'work', env: Readonly<Record<string, string>>) {
    this.#command = command;
    this.#env = env;
  }

  async start(): Promise<void> {
    const { PATH = '' } = process.env;
    const child = spawn(process.execPath, [cli, this.#command], {
      env: { PATH, ...this.#env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
    this.#kill = async () => {
      child.kill('SIGKILL');
      await ended;
    };
    let output = '';
    const isUp = this.#command === 'serve' ? /is ready on (http:\S+)\n/ : /works on up to/;
    await new Promise<void>((resolve, reject) => {
      const read = (chunk: Buffer): void => {
        output += chunk;
        const found = isUp.exec(output);
        if (found === null) return;
        this.baseUrl = found[1] ?? '';
        resolve();
      };
      child.stdout.on('data', read);
      child.stderr.on('data', read);
      void ended.then(() => reject(new Error(`${this.#command} did not start: ${output.slice(-1000)}`)));
    });
    this.firstKey ||= /^ {2}(vx_\S+)$/m.exec(output)?.[1] ?? '';
    output = '';
  }

  /** Resolves when it is gone. */
  kill(): Promise<void> {
    return this.#kill();
  }

  clientOf(apiKey: string): VeravoxClient {
    return new VeravoxClient({ baseUrl: this.baseUrl, apiKey, maxRetries: 0, timeoutMs: 20_000 });
  }
}

/** Two servers and two workers on one database, whose bucket is the data folder of another server. */
export interface Hosts {
  readonly storage: Host;
  readonly servers: readonly Host[];
  readonly workers: readonly Host[];
  readonly apiKey: string;
  readonly databaseUrl: string;
  kill(): Promise<void>;
}

export async function startHosts(
  folder: string,
  modelsDir: string,
  postgres: PostgresServer,
): Promise<Hosts> {
  const common = {
    PORT: '0',
    VERAVOX_MODELS_DIR: modelsDir,
    VERAVOX_SCORING_THREADS: '1',
    VERAVOX_LOG_LEVEL: 'error',
    VERAVOX_ACCOUNT_MAX_JOBS: '0',
    // The storage is asked by hosts that are killed.
    VERAVOX_MAX_TRANSFERS: '256',
    VERAVOX_ADDRESS_SHARE_PERCENT: '100',
    VERAVOX_KEY_SHARE_PERCENT: '100',
  };
  const storageFolder = path.join(folder, 'storage');
  const storage = new Host('serve', { ...common, VERAVOX_DATA_DIR: storageFolder });
  await storage.start();
  const secrets = loadStorageSecrets(storageFolder);
  const databaseUrl = await postgres.createDatabase();
  const env = {
    ...common,
    VERAVOX_DATABASE_URL: databaseUrl,
    VERAVOX_STORAGE_BUCKET: 'veravox',
    VERAVOX_STORAGE_ENDPOINT: storage.baseUrl,
    AWS_ACCESS_KEY_ID: secrets.accessKeyId,
    AWS_SECRET_ACCESS_KEY: secrets.secretAccessKey,
  };
  const servers: Host[] = [];
  const workers: Host[] = [];
  for (const name of ['server-1', 'server-2', 'worker-1', 'worker-2']) {
    const dataDir = path.join(folder, name);
    fs.mkdirSync(dataDir, { mode: 0o700 });
    // Hosts that share a bucket share this file.
    fs.copyFileSync(path.join(storageFolder, 'storage.json'), path.join(dataDir, 'storage.json'));
    const host = new Host(name.startsWith('server') ? 'serve' : 'work', {
      ...env,
      VERAVOX_DATA_DIR: dataDir,
    });
    await host.start();
    (name.startsWith('server') ? servers : workers).push(host);
  }
  return {
    storage,
    servers,
    workers,
    apiKey: servers[0]?.firstKey ?? '',
    databaseUrl,
    async kill() {
      await Promise.all([storage, ...servers, ...workers].map((host) => host.kill()));
    },
  };
}
