// SPDX-License-Identifier: Apache-2.0
//
// nginx, HAProxy and Caddy, as Debian packages them, with the configurations of deploy/proxy. Only ports, addresses and paths
// of files are replaced.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { packageDir } from '../../src/base/config/package-dir.js';
import { makeCertificate } from './certificates.js';
import { waitUntil } from './wait-until.js';

export const proxyNames = ['nginx', 'haproxy', 'caddy'] as const;
export type ProxyName = (typeof proxyNames)[number];

/** Names in the configurations: one for the server alone, one that it shares below `/veravox/`. */
export const ownHost = 'voice.example';
export const sharedHost = 'intranet.example';

export interface RunningProxy {
  readonly name: ProxyName;
  readonly version: string;
  readonly port: number;
  /** Signs for both names, and for localhost. */
  readonly certFile: string;
  stop(): Promise<void>;
}

export async function freePort(): Promise<number> {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as net.AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

interface Files {
  readonly folder: string;
  readonly certFile: string;
  readonly keyFile: string;
}

interface Program {
  readonly file: string;
  readonly source: string;
  readonly versionArgs: readonly string[];
  args(configFile: string): string[];
  configuration(text: string, port: number, files: Files): string;
}

const programs: Readonly<Record<ProxyName, Program>> = {
  nginx: {
    file: '/usr/sbin/nginx',
    source: 'nginx.conf',
    versionArgs: ['-v'],
    args: (file) => ['-e', 'stderr', '-c', file],
    configuration(text, port, { folder, certFile, keyFile }) {
      // Otherwise only root may use them.
      const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
        .map((kind) => `${kind}_temp_path ${folder}/${kind};`)
        .join(' ');
      const site = text
        .replaceAll('listen 443', `listen 127.0.0.1:${port}`)
        .replaceAll('/etc/ssl/voice.example.crt', certFile)
        .replaceAll('/etc/ssl/voice.example.key', keyFile);
      return `daemon off; master_process off; error_log stderr crit; pid ${folder}/nginx.pid;
events {} http { access_log off; ${folders}\n${site} }`;
    },
  },
  haproxy: {
    file: '/usr/sbin/haproxy',
    source: 'haproxy.cfg',
    versionArgs: ['-v'],
    args: (file) => ['-db', '-q', '-f', file],
    configuration(text, port, { folder, certFile, keyFile }) {
      const pem = path.join(folder, 'both.pem');
      fs.writeFileSync(pem, fs.readFileSync(certFile, 'utf8') + fs.readFileSync(keyFile, 'utf8'));
      return text.replace('bind :443', `bind 127.0.0.1:${port}`).replace('/etc/ssl/voice.example.pem', pem);
    },
  },
  caddy: {
    file: '/usr/bin/caddy',
    source: 'Caddyfile',
    versionArgs: ['version'],
    args: (file) => ['run', '--adapter', 'caddyfile', '--config', file],
    configuration(text, port, { folder, certFile, keyFile }) {
      const sites = [ownHost, sharedHost].reduce(
        (changed, host) =>
          changed.replace(
            `\n${host} {`,
            `\nhttps://${host}:${port} {\n\tbind 127.0.0.1\n\ttls ${certFile} ${keyFile}`,
          ),
        text,
      );
      return `{\n\tadmin off\n\tauto_https disable_redirects\n\tstorage file_system ${folder}/caddy\n\tlog {\n\t\tlevel ERROR\n\t}\n}\n${sites}`;
    },
  },
};

/**
 * Starts a proxy in front of a server on the loopback.
 * @param folder for its files; remove it after the proxy has stopped
 */
export async function startProxy(
  name: ProxyName,
  folder: string,
  port: number,
  serverPort: number,
): Promise<RunningProxy> {
  const { file, source, versionArgs, args, configuration } = programs[name];
  const certificate = makeCertificate(folder, 'voice', 2, [ownHost, sharedHost]);
  const text = fs.readFileSync(path.join(packageDir, 'deploy/proxy', source), 'utf8');
  const configFile = path.join(folder, source);
  const changed = configuration(text, port, { folder, ...certificate });
  fs.writeFileSync(configFile, changed.replaceAll('127.0.0.1:8080', `127.0.0.1:${serverPort}`));
  const child = spawn(file, args(configFile), {
    cwd: folder,
    // Caddy keeps state there.
    env: { ...process.env, HOME: folder, XDG_CONFIG_HOME: folder, XDG_DATA_HOME: folder },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let errors = '';
  child.stderr.on('data', (chunk) => {
    errors += chunk;
  });
  const isOver = (): boolean => child.exitCode !== null || child.signalCode !== null;
  await waitUntil(async () => isOver() || (await accepts(port)));
  if (isOver() || !(await accepts(port))) {
    await stopChild(child);
    throw new Error(`${name} does not listen:\n${errors}`);
  }
  // nginx reports it on standard error.
  const told = spawnSync(file, versionArgs, { encoding: 'utf8' });
  const [version = ''] = `${told.stdout}${told.stderr}`.split('\n');
  return { name, version, port, certFile: certificate.certFile, stop: () => stopChild(child) };
}

async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'close');
  child.kill('SIGKILL');
  await ended;
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1');
    socket.on('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}
