// SPDX-License-Identifier: Apache-2.0
//
// The server behind nginx, HAProxy and Caddy with the configurations of deploy/proxy, under a name of its own and below a path.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import tls from 'node:tls';
import { promisify } from 'node:util';
import { packageDir } from '../../src/base/config/package-dir.js';
import { eventually } from '../support/eventually.js';
import {
  freePort,
  ownHost,
  proxyNames,
  type RunningProxy,
  sharedHost,
  startProxy,
} from '../support/proxies.js';
import { StreamClient } from '../support/stream-client.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { API_KEY, startTestServer, type TestServer } from '../support/test-server.js';
import { until } from '../support/until.js';

/** A client's address that is not the proxy's. */
const CLIENT = '127.0.0.7';
const UPLOAD_BYTES = 24 << 20;
const clip = path.join(packageDir, 'test/fixtures/human-lj-a.mp3');

/** The addresses at which the server is reached. */
const places = [
  { host: ownHost, below: '' },
  { host: sharedHost, below: '/veravox' },
] as const;
type Place = (typeof places)[number];

interface Behind {
  readonly server: TestServer;
  readonly proxy: RunningProxy;
  readonly folder: string;
}

async function curl({ proxy }: Behind, ...args: string[]): Promise<string> {
  const to = [ownHost, sharedHost].flatMap((host) => ['--resolve', `${host}:${proxy.port}:127.0.0.1`]);
  const all = ['-sS', '--cacert', proxy.certFile, '--interface', CLIENT, ...to, ...args];
  return (await promisify(execFile)('curl', all, { maxBuffer: 1 << 28 })).stdout;
}

const status = ['-o', '/dev/null', '-w', '%{http_code} %{http_version}'];
const withKey = ['-H', `x-api-key: ${API_KEY}`];
const originOf = ({ proxy }: Behind, { host, below }: Place): string =>
  `https://${host}:${proxy.port}${below}`;

async function connect({ proxy }: Behind, { host }: Place): Promise<tls.TLSSocket> {
  const socket = tls.connect({
    socket: net.connect({ port: proxy.port, host: '127.0.0.1', localAddress: CLIENT }),
    servername: host,
    ca: fs.readFileSync(proxy.certFile),
    ALPNProtocols: ['http/1.1'],
  });
  await new Promise((resolve, reject) => socket.once('secureConnect', resolve).once('error', reject));
  return socket;
}

async function assertPredicts(behind: Behind, place: Place): Promise<void> {
  const url = `${originOf(behind, place)}/v1/predict`;
  const { server } = behind;
  for (const version of ['--http2', '--http1.1']) {
    const linesBefore = server.log.length;
    // A client cannot pretend to have another address.
    const forged = ['-H', 'x-forwarded-for: 192.0.2.1'];
    const told = await curl(behind, ...status, version, ...withKey, ...forged, '-F', `file=@${clip}`, url);
    assert.equal(told, version === '--http2' ? '200 2' : '200 1.1');
    const line = server.log.slice(linesBefore).find(({ route }) => route === '/v1/predict');
    assert.equal(line?.clientAddress, CLIENT);
  }
}

/** The client waits for permission to send, and the refusal of a huge upload comes before its body. */
async function assertRefusesEarly(behind: Behind, place: Place): Promise<void> {
  const socket = await connect(behind, place);
  let received = '';
  socket.on('data', (chunk) => {
    received += chunk.toString('latin1');
  });
  const head = (key: string): string =>
    `POST ${place.below}/v1/predict HTTP/1.1\r\nHost: ${place.host}:${behind.proxy.port}\r\n${key}` +
    `Content-Type: multipart/form-data; boundary=x\r\nContent-Length: 4000000\r\nExpect: 100-continue\r\n\r\n`;
  socket.write(head(`x-api-key: ${API_KEY}\r\n`));
  await until(() => received.includes('\r\n\r\n'));
  assert.match(received, /^HTTP\/1\.1 100 Continue\r\n/);
  socket.destroy();

  const stranger = await connect(behind, place);
  let refusal = '';
  stranger.on('data', (chunk) => {
    refusal += chunk.toString('latin1');
  });
  stranger.write(head(''));
  await until(() => /^HTTP\/1\.1 [2-5]/m.test(refusal));
  assert.match(refusal, /^HTTP\/1\.1 401 /m);
  stranger.destroy();
}

async function linkTo(behind: Behind, place: Place, key: string): Promise<URL> {
  const body = JSON.stringify({ keys: [key], entity: 'analysis' });
  const json = ['-H', 'content-type: application/json'];
  const answer = await curl(behind, ...withKey, ...json, '-d', body, `${originOf(behind, place)}/v1/file`);
  return new URL(JSON.parse(answer).url[0].value);
}

/** The server has its first bytes before the client has sent the last. */
async function assertStreamsUploads(behind: Behind, place: Place): Promise<void> {
  const link = await linkTo(behind, place, 'large.bin');
  assert.equal(link.host, `${place.host}:${behind.proxy.port}`);
  assert.ok(link.pathname.startsWith(`${place.below}/veravox/`), link.pathname);
  const socket = await connect(behind, place);
  let received = '';
  socket.on('data', (chunk) => {
    received += chunk.toString('latin1');
  });
  const half = Buffer.alloc(UPLOAD_BYTES / 2, 7);
  socket.write(
    `PUT ${link.pathname}${link.search} HTTP/1.1\r\nHost: ${link.host}\r\nContent-Length: ${UPLOAD_BYTES}\r\n\r\n`,
  );
  socket.write(half);
  const isArriving = async (): Promise<boolean> =>
    (await behind.server.metric('veravox_transfers_in_flight')) === 1 || received !== '';
  await eventually(isArriving, 'the upload arrives');
  assert.equal(received, '');
  socket.write(half);
  await until(() => received.includes('\r\n\r\n'));
  assert.match(received, /^HTTP\/1\.1 200 /);
  socket.destroy();
}

async function assertStreamsAudio(behind: Behind, place: Place): Promise<void> {
  const client = await StreamClient.open(behind.proxy.port, {
    path: `${place.below}/v1/stream?encoding=pcm16&sample_rate=16000`,
    socket: await connect(behind, place),
    headers: { host: `${place.host}:${behind.proxy.port}` },
  });
  await client.next('ready');
  client.audio(Buffer.alloc(3200));
  const live = behind.server.analyser.liveStreams.at(-1);
  await until(() => live?.pieces.length === 1);
  live?.tellWindow(0, 0.25);
  await client.next('window');
  client.socket.destroy();
}

async function startBehind(t: TestContext, name: RunningProxy['name'], place: Place): Promise<Behind> {
  const folder = temporaryFolder(t);
  const port = await freePort();
  const server = await startTestServer(t, {
    trustedProxies: [{ family: 'ipv4', address: '127.0.0.1', prefixBits: 32 }],
    storagePublicUrl: `https://${place.host}:${port}${place.below}`,
  });
  const proxy = await startProxy(name, folder, port, server.port);
  t.after(proxy.stop);
  return { server, proxy, folder };
}

for (const name of proxyNames) {
  for (const place of places) {
    test(`${name}, ${place.host}${place.below}/: everything works through it`, async (t) => {
      const behind = await startBehind(t, name, place);
      await assertPredicts(behind, place);
      await assertRefusesEarly(behind, place);
      await assertStreamsUploads(behind, place);
      await assertStreamsAudio(behind, place);
      if (place.below === '') return;
      const beside = await curl(behind, '-i', `https://${place.host}:${behind.proxy.port}/v1/predict`);
      assert.doesNotMatch(beside, /x-correlation-id/i, 'other paths are not for the server');
    });
  }
}
