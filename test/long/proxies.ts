// SPDX-License-Identifier: Apache-2.0
//
// nginx, HAProxy and Caddy in front of the server, with the configurations of deploy/proxy: whether everything works through
// them, and whether a request can be hidden from them. Passes if every answer went to its own request, and no hidden
// request reached the server.
//
//   npm run bench proxies
//
// `node scripts/setup.mjs --tests` installs the three programs.
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import tls from 'node:tls';
import { describeMachine } from '../../bench/support/machine.js';
import { startServer } from '../../bench/support/server-process.js';
import { packageDir } from '../../src/base/config/package-dir.js';
import { freePort, ownHost, proxyNames, type RunningProxy, startProxy } from '../support/proxies.js';
import { hiddenRequests } from './proxies/attacks.js';

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'veravox-proxies-'));
const logFile = path.join(folder, 'server.log');
const server = await startServer(path.join(folder, 'data'), { VERAVOX_SCORING_THREADS: '1' }, { logFile });

/** Sends bytes over TLS verbatim, and resolves with the response up to its end or a pause. */
function exchange(port: number, bytes: string, pauseMs = 400): Promise<string> {
  return new Promise((resolve) => {
    let received = '';
    const socket = tls.connect({
      port,
      host: '127.0.0.1',
      servername: ownHost,
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
async function attack(
  proxy: RunningProxy,
  name: string,
  bytes: (hidden: string) => string,
): Promise<Outcome> {
  const hiddenId = randomUUID();
  const hidden = `GET /livez HTTP/1.1\r\nHost: ${ownHost}\r\nx-correlation-id: ${hiddenId}\r\n\r\n`;
  const received = await exchange(proxy.port, bytes(hidden));
  let isMixedUp = false;
  // The next client must get the answer to its own request.
  for (let i = 0; i < 3; i++) {
    const id = randomUUID();
    const head = `GET /livez HTTP/1.1\r\nHost: ${ownHost}\r\nConnection: close\r\nx-correlation-id: ${id}\r\n\r\n`;
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

function curl(proxy: RunningProxy, ...args: string[]): string {
  const base = ['-sS', '--cacert', proxy.certFile, '--resolve', `${ownHost}:${proxy.port}:127.0.0.1`];
  return execFileSync('curl', [...base, ...args], { encoding: 'utf8', maxBuffer: 1 << 28 });
}

function works(proxy: RunningProxy): Record<string, string> {
  const url = `https://${ownHost}:${proxy.port}`;
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

const results: Record<string, unknown> = {};
let isGood = true;
try {
  for (const name of proxyNames) {
    const proxyFolder = path.join(folder, name);
    fs.mkdirSync(proxyFolder);
    const proxy = await startProxy(name, proxyFolder, await freePort(), server.port);
    try {
      const ordinary = works(proxy);
      const outcomes: Outcome[] = [];
      for (const [attackName, bytes] of hiddenRequests(ownHost, server.apiKey))
        outcomes.push(await attack(proxy, attackName, bytes));
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
      await proxy.stop();
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
