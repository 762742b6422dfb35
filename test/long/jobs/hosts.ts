// SPDX-License-Identifier: Apache-2.0
import { execFile, spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { VeravoxClient } from '../../../client/src/client.js';
import { loadStorageSecrets } from '../../../src/state/storage/storage-secrets.js';
import type { PostgresServer } from '../../support/postgres.js';
import { cli } from '../kill-loop/server.js';

const run = promisify(execFile);
const LOG_LENGTH = 20_000;

/** A server or worker with its own data folder, which can be killed and restarted. */
export class Host {
  readonly #command: 'serve' | 'work';
  readonly #env: Readonly<Record<string, string>>;
  #kill = async (): Promise<void> => {};
  /** Process id, after its start. */
  pid = 0;
  /** The latest output. */
  log = '';
  /** For a server. */
  baseUrl = '';
  /** Made by its first start. */
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
    this.pid = child.pid ?? 0;
    const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
    this.#kill = async () => {
      child.kill('SIGKILL');
      await ended;
    };
    this.log = '';
    let isKnownUp = false;
    const isUp = this.#command === 'serve' ? /is ready on (http:\S+)\n/ : /works on up to/;
    await new Promise<void>((resolve, reject) => {
      const read = (chunk: Buffer): void => {
        this.log = (this.log + chunk).slice(-LOG_LENGTH);
        if (isKnownUp) return;
        const found = isUp.exec(this.log);
        if (found === null) return;
        isKnownUp = true;
        this.baseUrl = found[1] ?? '';
        resolve();
      };
      child.stdout.on('data', read);
      child.stderr.on('data', read);
      void ended.then(() => reject(new Error(`${this.#command} did not start: ${this.log.slice(-1000)}`)));
    });
    this.firstKey ||= /^ {2}(vx_\S+)$/m.exec(this.log)?.[1] ?? '';
  }

  /** Resolves when the process is gone. */
  kill(): Promise<void> {
    return this.#kill();
  }

  clientOf(apiKey: string): VeravoxClient {
    return new VeravoxClient({ baseUrl: this.baseUrl, apiKey, maxRetries: 0, timeoutMs: 20_000 });
  }
}

/** Servers and workers on one database, whose bucket is the data folder of another server. */
export interface Hosts {
  readonly storage: Host;
  readonly servers: readonly Host[];
  readonly workers: readonly Host[];
  readonly apiKey: string;
  readonly databaseUrl: string;
  readonly all: readonly Host[];
  /** Output of an operator's command at a host. */
  command(...args: readonly string[]): Promise<string>;
  kill(): Promise<void>;
}

export interface HostsOptions {
  /** Contains a folder per host, by name: storage, server-1, worker-1 and so on. */
  readonly folder: string;
  readonly postgres: PostgresServer;
  readonly servers: number;
  readonly workers: number;
  /** All hosts. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Servers only. */
  readonly serverSettings?: Readonly<Record<string, string>>;
}

export async function startHosts(options: HostsOptions): Promise<Hosts> {
  const { folder, postgres, settings, serverSettings } = options;
  const common = { PORT: '0', ...settings };
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
  const start = async (command: 'serve' | 'work', name: string, more = {}): Promise<Host> => {
    const dataDir = path.join(folder, name);
    fs.mkdirSync(dataDir, { mode: 0o700 });
    // Hosts that share a bucket share this file.
    fs.copyFileSync(path.join(storageFolder, 'storage.json'), path.join(dataDir, 'storage.json'));
    const host = new Host(command, { ...env, VERAVOX_DATA_DIR: dataDir, ...more });
    await host.start();
    return host;
  };
  const servers: Host[] = [];
  for (let i = 1; i <= options.servers; i++)
    servers.push(await start('serve', `server-${i}`, serverSettings));
  const workers: Host[] = [];
  for (let i = 1; i <= options.workers; i++) workers.push(await start('work', `worker-${i}`));
  const all = [storage, ...servers, ...workers];
  return {
    storage,
    servers,
    workers,
    apiKey: servers[0]?.firstKey ?? '',
    databaseUrl,
    all,
    async command(...args) {
      const { PATH = '' } = process.env;
      const operatorsEnv = { PATH, ...env, VERAVOX_DATA_DIR: path.join(folder, 'operator') };
      const { stdout } = await run(process.execPath, [cli, ...args], { env: operatorsEnv });
      return stdout;
    },
    async kill() {
      await Promise.all(all.map((host) => host.kill()));
    },
  };
}
