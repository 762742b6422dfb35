// SPDX-License-Identifier: Apache-2.0
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after } from 'node:test';
import pg from 'pg';
import { packageDir } from '../../src/base/config/package-dir.js';

/** Debian's place for programs that are not linked from /usr/bin. */
const DEBIAN_FOLDER = '/usr/lib/postgresql';
export const PASSWORD = 'a-password/of:tests@';
const USER = 'veravox';

/** A server on a Unix socket, which trusts everybody there; on a TCP port only on request. */
export class PostgresServer {
  readonly #folder = fs.mkdtempSync(path.join(os.tmpdir(), 'veravox-pg-'));
  readonly #options: readonly string[];
  /** Also part of the socket's name. */
  readonly #port: number;
  #process: ChildProcess | undefined;
  #databases = 0;

  /** @param settings such as `port=5433` */
  constructor(settings: Readonly<Record<string, string>> = {}) {
    this.#port = Number(settings.port ?? 5432);
    this.#options = Object.entries({
      unix_socket_directories: this.#folder,
      listen_addresses: '',
      // Nothing here outlives the test.
      fsync: 'off',
      shared_buffers: '16MB',
      max_connections: '60',
      ...settings,
    }).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    if (owner !== undefined) fs.chownSync(this.#folder, owner.uid, owner.gid);
    execFileSync('cp', ['--archive', emptyData(), this.file('data')]);
  }

  /** A path in the server's folder; certificates must belong to the server. */
  file(name: string): string {
    return path.join(this.#folder, name);
  }

  own(file: string): void {
    fs.chmodSync(file, 0o600);
    if (owner !== undefined) fs.chownSync(file, owner.uid, owner.gid);
  }

  async start(): Promise<void> {
    // The server ends with this process, however it ends: the shell's standard input is then closed.
    const script = '"$@" & trap "" INT; cat > /dev/null; kill -INT $!; wait $!';
    const server = spawn(
      'sh',
      ['-c', script, 'sh', programOf('postgres'), '-D', this.file('data'), ...this.#options],
      { ...owner, cwd: this.#folder, stdio: ['pipe', 'ignore', 'pipe'] },
    );
    this.#process = server;
    let log = '';
    server.stderr?.on('data', (chunk) => {
      log += chunk;
    });
    while (!/ready to accept connections/.test(log)) {
      const isOver = await Promise.race([
        once(server.stderr as NodeJS.EventEmitter, 'data').then(() => false),
        once(server, 'close').then(() => true),
      ]);
      if (isOver) throw new Error(`PostgreSQL does not start:\n${log}`);
    }
  }

  /** Open connections are cut. */
  async stop(): Promise<void> {
    const server = this.#process;
    this.#process = undefined;
    if (server === undefined) return;
    const closed = once(server, 'close');
    server.stdin?.end();
    await closed;
  }

  /** Stops it permanently. */
  async remove(): Promise<void> {
    await this.stop();
    fs.rmSync(this.#folder, { recursive: true, force: true });
  }

  /** Makes an empty database. @returns its URL */
  async createDatabase(): Promise<string> {
    const name = `db${++this.#databases}`;
    await this.run('postgres', `CREATE DATABASE ${name}`);
    return this.url(name);
  }

  url(database: string): string {
    return `postgres://${USER}@localhost:${this.#port}/${database}?host=${encodeURIComponent(this.#folder)}`;
  }

  /** The same over TCP, with the password. */
  tcpUrl(database: string, parameters = ''): string {
    return `postgres://${USER}:${encodeURIComponent(PASSWORD)}@127.0.0.1:${this.#port}/${database}${parameters}`;
  }

  /** As another user. */
  async run(database: string, sql: string): Promise<Record<string, unknown>[]> {
    const client = new pg.Client({ host: this.#folder, port: this.#port, user: USER, database });
    await client.connect();
    try {
      return (await client.query(sql)).rows;
    } finally {
      await client.end();
    }
  }
}

/** One for all tests of the calling file, started by the first that needs it. */
export function sharedPostgres(): () => Promise<PostgresServer> {
  let starting: Promise<PostgresServer> | undefined;
  after(async () => (await starting)?.remove());
  return () => {
    starting ??= startPostgres();
    return starting;
  };
}

export async function startPostgres(settings?: Readonly<Record<string, string>>): Promise<PostgresServer> {
  const server = new PostgresServer(settings);
  await server.start();
  return server;
}

/** The data folder of a new server, in `build`: `initdb` takes longer than a copy. */
function emptyData(): string {
  const initdb = programOf('initdb');
  const version = /[\d.]+/.exec(execFileSync(initdb, ['--version'], { encoding: 'utf8' }))?.[0];
  const data = path.join(packageDir, 'build', `postgres-${version}`);
  if (fs.existsSync(data)) return data;
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'veravox-pg-'));
  if (owner !== undefined) fs.chownSync(folder, owner.uid, owner.gid);
  const passwordFile = path.join(folder, 'password');
  fs.writeFileSync(passwordFile, PASSWORD, { mode: 0o644 });
  const rights = [
    '--username',
    USER,
    '--auth-local=trust',
    '--auth-host=scram-sha-256',
    '--pwfile',
    passwordFile,
  ];
  const more = [
    '--no-sync',
    '--wal-segsize=1',
    '--locale=C.UTF-8',
    '--encoding=UTF8',
    path.join(folder, 'data'),
  ];
  execFileSync(initdb, [...rights, ...more], { ...owner, cwd: folder, stdio: 'pipe' });
  const copy = fs.mkdtempSync(`${data}-`);
  execFileSync('cp', ['--archive', '--no-target-directory', path.join(folder, 'data'), copy]);
  fs.rmSync(folder, { recursive: true });
  try {
    fs.renameSync(copy, data);
  } catch (error) {
    // Another test file was first.
    if (!fs.existsSync(data)) throw error;
    fs.rmSync(copy, { recursive: true });
  }
  return data;
}

/** PostgreSQL refuses to run as root. Its package provides a user. */
const owner = process.getuid?.() === 0 ? userOf('postgres') : undefined;

function userOf(name: string): { uid: number; gid: number } {
  const [, , uid, gid] =
    fs
      .readFileSync('/etc/passwd', 'utf8')
      .split('\n')
      .find((line) => line.startsWith(`${name}:`))
      ?.split(':') ?? [];
  if (uid === undefined) throw new Error(`There is no user ${name}: install PostgreSQL with npm run setup.`);
  return { uid: Number(uid), gid: Number(gid) };
}

function programOf(name: string): string {
  const versions = fs.existsSync(DEBIAN_FOLDER) ? fs.readdirSync(DEBIAN_FOLDER).map(Number) : [];
  const inFolders = versions
    .sort((a, b) => b - a)
    .map((version) => `${DEBIAN_FOLDER}/${version}/bin/${name}`);
  return inFolders.find((program) => fs.existsSync(program)) ?? name;
}
