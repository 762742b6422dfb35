// SPDX-License-Identifier: Apache-2.0
import fs from 'node:fs';
import path from 'node:path';
import { startPostgres } from '../../test/support/postgres.js';
import { Host, startHosts } from '../jobs/hosts.js';

/** What a client talks to, and what is watched meanwhile. */
export interface Installation {
  readonly name: string;
  readonly origin: string;
  readonly apiKey: string;
  /** It does the jobs. */
  readonly worker: Host;
  /** It receives the recordings. */
  readonly storage: Host;
  /** Everything that the worker may write to, and nothing else. */
  readonly workerFolders: readonly string[];
  /** All of them. */
  readonly hosts: readonly Host[];
  close(): Promise<void>;
}

/** One server without any settings but its place. */
export async function embedded(folder: string): Promise<Installation> {
  const dataDir = path.join(folder, 'embedded');
  const temporary = path.join(folder, 'embedded-tmp');
  fs.mkdirSync(temporary);
  const server = new Host('serve', { PORT: '0', VERAVOX_DATA_DIR: dataDir, TMPDIR: temporary });
  await server.start();
  return {
    name: 'one server with its defaults',
    origin: server.baseUrl,
    apiKey: server.firstKey,
    worker: server,
    storage: server,
    workerFolders: [dataDir, temporary],
    hosts: [server],
    close: () => server.kill(),
  };
}

/** A server that only takes requests, a worker on PostgreSQL, and the storage of another server as the bucket. */
export async function distributed(folder: string): Promise<Installation> {
  const temporary = path.join(folder, 'hosts-tmp');
  fs.mkdirSync(temporary);
  const postgres = await startPostgres();
  try {
    const hosts = await startHosts({
      folder,
      postgres,
      servers: 1,
      workers: 1,
      settings: { TMPDIR: temporary },
      serverSettings: { VERAVOX_JOB_WORKERS: '0' },
    });
    const [server] = hosts.servers;
    const [worker] = hosts.workers;
    if (server === undefined || worker === undefined) throw new Error('Hosts are missing.');
    return {
      name: 'a server and a worker, PostgreSQL, a bucket',
      origin: server.baseUrl,
      apiKey: hosts.apiKey,
      worker,
      storage: hosts.storage,
      workerFolders: [path.join(folder, 'worker-1'), temporary],
      hosts: [hosts.storage, server, worker],
      async close() {
        await hosts.kill();
        await postgres.remove();
      },
    };
  } catch (error) {
    await postgres.remove();
    throw error;
  }
}
