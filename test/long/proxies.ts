// SPDX-License-Identifier: Apache-2.0
//
// nginx, HAProxy and Caddy in front of the server, with the blocks of docs/proxy.md: whether everything works through
// them, and whether a request can be hidden from them. Passes if every answer went to its own request, and no hidden
// request reached the server.
//
//   npm run bench proxies
//
// Programs that are not installed are unpacked into a temporary folder from Debian's packages; nothing is installed.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import tls from 'node:tls';
import { describeMachine } from '../../bench/support/machine.js';
import { startServer } from '../../bench/support/server-process.js';
import { packageDir } from '../../src/base/config/package-dir.js';
import { hiddenRequests } from './proxies/attacks.js';

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'veravox-proxies-'));
const programs = path.join(folder, 'root');
const page = fs.readFileSync(path.join(packageDir, 'docs/proxy.md'), 'utf8');
const blockOf = (language: string): string =>
  new RegExp(`\`\`\`${language}\\n([\\s\\S]+?)\`\`\``).exec(page)?.[1] ?? '';

const onPath = (name: string): boolean =>
  ['/usr/sbin', '/usr/bin', '/sbin'].some((dir) => fs.existsSync(path.join(dir, name)));

/** The program, installed or unpacked, and the environment for it. */
function program(name: string, libraries: readonly string[] = []): { file: string; env: NodeJS.ProcessEnv } {
  if (onPath(name)) return { file: name, env: process.env };
  execFileSync('apt-get', ['download', name, ...libraries], { cwd: folder, stdio: 'ignore' });
  for (const file of fs.readdirSync(folder).filter((entry) => entry.endsWith('.deb'))) {
    execFileSync('dpkg', ['-x', file, programs], { cwd: folder });
  }
  const found = ['usr/sbin', 'usr/bin'].map((dir) => path.join(programs, dir, name)).find(fs.existsSync);
  if (found === undefined) throw new Error(`The package ${name} has no program of that name.`);
  const libraries64 = path.join(programs, 'usr/lib');
  const libraryDirs = fs.existsSync(libraries64) ? fs.readdirSync(libraries64) : [];
  const searched = libraryDirs.map((dir) => path.join(libraries64, dir)).join(':');
  return { file: found, env: { ...process.env, LD_LIBRARY_PATH: searched } };
}

async function freePort(): Promise<number> {
  const server = net.createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as net.AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

const certificate = path.join(folder, 'voice.crt');
const key = path.join(folder, 'voice.key');
execFileSync(
  'openssl',
  [
    ...['req', '-x509', '-nodes', '-days', '2', '-subj', '/CN=localhost', '-newkey', 'rsa:2048'],
    ...['-addext', 'subjectAltName=DNS:localhost', '-keyout', key, '-out', certificate],
  ],
  { stdio: 'ignore' },
);
const pem = path.join(folder, 'voice.pem');
fs.writeFileSync(pem, fs.readFileSync(certificate, 'utf8') + fs.readFileSync(key, 'utf8'));

const logFile = path.join(folder, 'server.log');
const server = await startServer(path.join(folder, 'data'), { VERAVOX_SCORING_THREADS: '1' }, { logFile });

interface Proxy {
  readonly name: string;
  readonly version: string;
  readonly port: number;
  stop(): void;
}

async function start(
  name: string,
  { file, env }: { file: string; env: NodeJS.ProcessEnv },
  port: number,
  configuration: string,
  args: (configFile: string) => string[],
  versionArgs: string[],
): Promise<Proxy> {
  const configFile = path.join(folder, `${name}.conf`);
  fs.writeFileSync(configFile, configuration);
  // nginx reports it on standard error.
  const told = spawnSync(file, versionArgs, { env, encoding: 'utf8' });
  const version = `${told.stdout}${told.stderr}`;
  const child = spawn(file, args(configFile), { env, cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
  for (let tries = 0; !(await accepts(port)); tries++) {
    if (tries > 100 || child.exitCode !== null) throw new Error(`${name} does not listen.`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return { name, version: version.split('\n')[0] ?? '', port, stop: () => child.kill('SIGKILL') };
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1');
    socket.on('connect', () => resolve(true)).on('error', () => resolve(false));
    socket.on('connect', () => socket.destroy());
  });
}

const upstream = `127.0.0.1:${server.port}`;

/** Folders that otherwise only root may use. */
const nginxFolders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  .map((kind) => `${kind}_temp_path ${folder}/${kind};`)
  .join(' ');

async function startNginx(): Promise<Proxy> {
  const port = await freePort();
  const block = blockOf('nginx')
    .replace('127.0.0.1:8080', upstream)
    .replace('listen 443 ssl;\n  http2 on;', `listen 127.0.0.1:${port} ssl http2;`)
    .replace('/etc/ssl/voice.example.crt', certificate)
    .replace('/etc/ssl/voice.example.key', key);
  const around = `daemon off; master_process off; error_log stderr crit; pid ${folder}/nginx.pid;
events {} http { access_log off; ${nginxFolders} ${block} }`;
  return start('nginx', program('nginx'), port, around, (file) => ['-e', 'stderr', '-c', file], ['-v']);
}

async function startHaproxy(): Promise<Proxy> {
  const port = await freePort();
  const block = blockOf('haproxy')
    .replace('bind :443', `bind 127.0.0.1:${port}`)
    .replace('/etc/ssl/voice.example.pem', pem)
    .replace('127.0.0.1:8080', upstream);
  const found = program('haproxy', ['liblua5.3-0', 'libopentracing-c-wrapper0', 'libopentracing1']);
  return start('haproxy', found, port, block, (file) => ['-db', '-f', file], ['-v']);
}

async function startCaddy(): Promise<Proxy> {
  const port = await freePort();
  const block = blockOf('caddy')
    .replace('voice.example {', `https://localhost:${port} {\n  bind 127.0.0.1\n  tls ${certificate} ${key}`)
    .replace('127.0.0.1:8080', upstream);
  const around = `{\n  admin off\n  auto_https disable_redirects\n  storage file_system ${folder}/caddy\n}\n${block}`;
  return start(
    'caddy',
    program('caddy'),
    port,
    around,
    (file) => ['run', '--adapter', 'caddyfile', '--config', file],
    ['version'],
  );
}

/** Sends bytes over TLS verbatim, and resolves with the response up to its end or a pause. */
function exchange(port: number, bytes: string, pauseMs = 400): Promise<string> {
  return new Promise((resolve) => {
    let received = '';
    const socket = tls.connect({
      port,
      host: '127.0.0.1',
      servername: 'localhost',
      rejectUnauthorized: false,
    });
    const end = (): void => {
      socket.destroy();
      resolve(received);
    };
    let timer = setTimeout(end, 5000);
    socket.on('secureConnect', () => {
      socket.write(Buffer.from(bytes, 'latin1'));
      clearTimeout(timer);
      timer = setTimeout(end, 1500);
    });
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
      clearTimeout(timer);
      timer = setTimeout(end, pauseMs);
    });
    socket.on('error', end);
    socket.on('close', end);
  });
}

const idsSeen = (): Set<string> =>
  new Set(
    [...fs.readFileSync(logFile, 'utf8').matchAll(/"correlationId":"([^"]+)"/g)].map(([, id]) => String(id)),
  );
const statuses = (received: string): string[] =>
  [...received.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, code]) => String(code));

interface Outcome {
  readonly attack: string;
  readonly statuses: readonly string[];
  readonly reachedServer: boolean;
  readonly isHidden: boolean;
}

/** Whether the hidden request was a request for the server and none for the proxy. */
async function attack(proxy: Proxy, name: string, bytes: (hidden: string) => string): Promise<Outcome> {
  const hiddenId = randomUUID();
  const hidden = `GET /livez HTTP/1.1\r\nHost: localhost\r\nx-correlation-id: ${hiddenId}\r\n\r\n`;
  const received = await exchange(proxy.port, bytes(hidden));
  let isMixedUp = false;
  // The next client must get the answer to its own request.
  for (let i = 0; i < 3; i++) {
    const id = randomUUID();
    const head = `GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nx-correlation-id: ${id}\r\n\r\n`;
    const answer = await exchange(proxy.port, head, 150);
    if (!answer.toLowerCase().includes(`x-correlation-id: ${id}`)) isMixedUp = true;
  }
  // The log is written at most 200 ms later.
  await new Promise((resolve) => setTimeout(resolve, 300));
  const reachedServer = idsSeen().has(hiddenId);
  const wasAnswered = received.toLowerCase().includes(`x-correlation-id: ${hiddenId}`);
  return {
    attack: name,
    statuses: statuses(received),
    reachedServer,
    isHidden: isMixedUp || (reachedServer && !wasAnswered),
  };
}

function curl(proxy: Proxy, ...args: string[]): string {
  const base = ['-sS', '--cacert', certificate, '--resolve', `localhost:${proxy.port}:127.0.0.1`];
  return execFileSync('curl', [...base, ...args], { encoding: 'utf8', maxBuffer: 1 << 28 });
}

function works(proxy: Proxy): Record<string, string> {
  const url = `https://localhost:${proxy.port}`;
  const status = ['-o', '/dev/null', '-w', '%{http_code} HTTP/%{http_version}'];
  const clip = path.join(packageDir, 'test/fixtures/human-lj-a.mp3');
  const large = path.join(folder, 'large.bin');
  fs.writeFileSync(large, Buffer.alloc(20 << 20, 7));
  const withKey = ['-H', `x-api-key: ${server.apiKey}`];
  const body = JSON.stringify({ keys: ['large.bin'], entity: 'analysis' });
  const links = JSON.parse(
    curl(proxy, ...withKey, '-H', 'content-type: application/json', '-d', body, `${url}/v1/file`),
  );
  const link = String(links.url[0].value).replace(/^http:/, 'https:');
  return {
    predict: curl(proxy, ...status, ...withKey, '-F', `file=@${clip}`, `${url}/v1/predict`),
    'predict over HTTP/1.1': curl(
      proxy,
      ...status,
      '--http1.1',
      ...withKey,
      '-F',
      `file=@${clip}`,
      `${url}/v1/predict`,
    ),
    'predict over HTTP/1.0': curl(
      proxy,
      ...status,
      '--http1.0',
      '--no-alpn',
      ...withKey,
      '-F',
      `file=@${clip}`,
      `${url}/v1/predict`,
    ),
    'no key, 20 MiB': curl(proxy, ...status, '-F', `file=@${large}`, `${url}/v1/predict`),
    'a file to a link, 20 MiB': curl(proxy, ...status, '-T', large, link),
    'the documentation': curl(proxy, ...status, `${url}/docs/swagger-ui-bundle.js`),
  };
}

/** nginx's default behaviour. */
async function defaultNginx(): Promise<string> {
  const port = await freePort();
  const around = `daemon off; master_process off; error_log stderr crit; pid ${folder}/nginx-default.pid;
events {} http { access_log off; ${nginxFolders} server { listen 127.0.0.1:${port}; location / { proxy_pass http://${upstream}; } } }`;
  const proxy = await start(
    'nginx-default',
    program('nginx'),
    port,
    around,
    (file) => ['-e', 'stderr', '-c', file],
    ['-V'],
  );
  try {
    return execFileSync(
      'curl',
      ['-sS', '-o', '/dev/null', '-w', '%{http_code}', `http://127.0.0.1:${port}/livez`],
      {
        encoding: 'utf8',
      },
    );
  } finally {
    proxy.stop();
  }
}

const results: Record<string, unknown> = {};
let isGood = true;
try {
  results['nginx with proxy_pass alone'] = await defaultNginx();
  for (const startProxy of [startNginx, startHaproxy, startCaddy]) {
    const proxy = await startProxy();
    try {
      const ordinary = works(proxy);
      const outcomes: Outcome[] = [];
      for (const [name, bytes] of hiddenRequests(server.apiKey))
        outcomes.push(await attack(proxy, name, bytes));
      const hidden = outcomes.filter((outcome) => outcome.isHidden);
      if (hidden.length > 0) isGood = false;
      results[proxy.name] = {
        version: proxy.version,
        works: ordinary,
        attacks: outcomes.length,
        hidden: hidden.map((outcome) => outcome.attack),
        outcomes: Object.fromEntries(
          outcomes.map((outcome) => [
            outcome.attack,
            `${outcome.statuses.join(' ') || 'closed'}${outcome.reachedServer ? ', answered as a second request' : ''}`,
          ]),
        ),
      };
      process.stdout.write(
        `${proxy.name}: ${JSON.stringify(ordinary)}, ${outcomes.length} attacks, ${hidden.length} hidden\n`,
      );
    } finally {
      proxy.stop();
    }
  }
} finally {
  await server.stop();
  fs.rmSync(folder, { recursive: true, force: true });
}
fs.writeFileSync(
  path.join(packageDir, 'bench/results/proxies.json'),
  `${JSON.stringify({ machine: describeMachine(), ...results }, null, 2)}\n`,
);
if (!isGood) process.exitCode = 1;
