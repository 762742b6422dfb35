// SPDX-License-Identifier: Apache-2.0
//
// Memory that clients make the server keep is bounded, whatever they send and wherever. Covers all routes of a server, including
// new ones: each gets more than it may keep, from several keys and addresses, and none of it is complete.
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type Browser, signIn } from '../../support/admin.js';
import { eventually } from '../../support/eventually.js';
import { FORM_TYPE, fileEntry, formBody } from '../../support/form-body.js';
import { request } from '../../support/http-client.js';
import { type InputRoute, type MemoryServer, memoryConfig } from '../../support/memory-server.js';
import { StreamClient } from '../../support/stream-client.js';
import { API_KEY, OTHER_API_KEY } from '../../support/test-keys.js';

const KIBIBYTE = 1024;
const MEBIBYTE = 1024 * KIBIBYTE;
/** Sizes of bodies, each just below a limit that a route may have. */
const BODY_BYTES = [32, 64, 512, 4096].map((kibibytes) => kibibytes * KIBIBYTE - 256);
const MAX_BODIES = 64;
const BODIES_OF_A_SIZE_BYTES = 256 * MEBIBYTE;
const FORMS = 40;
const CONNECTIONS = 1200;
const STREAMS = 40;
const PIECE_BYTES = 128 * KIBIBYTE;
const RATE_HZ = 192_000;

const mayHoldBytes =
  memoryConfig.maxInflightBytes * (1 + 1 / 8) +
  memoryConfig.maxAnswerBytes +
  (memoryConfig.maxTransfers * MEBIBYTE) / 4;
/** Margin for garbage not yet collected, and for the cost of any request. */
const SLACK_BYTES = 128 * MEBIBYTE;

interface Target extends MemoryServer {
  readonly pid: number;
  readonly browser: Browser;
  /** Path of an upload link to the storage. */
  readonly uploadPath: string;
  /** Resolves when the server has returned its freed memory. */
  giveBack(): Promise<void>;
}

async function start(t: TestContext): Promise<Target> {
  const file = fileURLToPath(new URL('../../support/memory-server.js', import.meta.url));
  const child = fork(file, { execArgv: ['--expose-gc'], stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  t.after(async () => {
    const exited = once(child, 'exit');
    child.disconnect();
    await exited;
  });
  const [server] = (await once(child, 'message')) as [MemoryServer];
  const { port } = server;
  const links = await request(port, '/v1/file', {
    method: 'POST',
    headers: { 'x-api-key': API_KEY, 'content-type': 'application/json' },
    body: Buffer.from(JSON.stringify({ keys: ['held'], entity: 'analysis' })),
  });
  const link = new URL(links.json.url[0].value);
  const browser = await signIn(port, 'admin');
  const giveBack = async (): Promise<void> => {
    const done = once(child, 'message');
    child.send('');
    await done;
  };
  const uploadPath = link.pathname + link.search;
  return { ...server, browser, pid: child.pid ?? assert.fail(), uploadPath, giveBack };
}

function memoryOf(pid: number, what: 'VmRSS' | 'VmHWM'): number {
  const status = fs.readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`${what}:\\s+(\\d+) kB`).exec(status)?.[1]) * KIBIBYTE;
}

/** The highest use from now on. */
const forgetPeak = (pid: number): void => fs.writeFileSync(`/proc/${pid}/clear_refs`, '5');

const addressOf = (index: number): string => `127.0.0.${2 + (index % 4)}`;

function connect(target: Target, index: number): net.Socket {
  const socket = net.connect({ port: target.port, host: '127.0.0.1', localAddress: addressOf(index) });
  socket.on('error', () => {});
  return socket;
}

function headOf(
  { browser, uploadPath }: Target,
  { method, path, isPrefix, isAdmin }: InputRoute,
  index: number,
  headers: Readonly<Record<string, string | number>>,
): string {
  const isStorage = path.startsWith('/objects/');
  const place = `${path.replace(/\{\w+\}/, 'x')}${isPrefix && path.endsWith('/') ? 'x' : ''}`;
  const who: Record<string, string> = isAdmin
    ? { cookie: browser.cookie, 'x-csrf-token': browser.csrfToken, 'sec-fetch-site': 'same-origin' }
    : { 'x-api-key': index % 2 === 0 ? API_KEY : OTHER_API_KEY };
  const lines = Object.entries({ host: 'localhost', ...who, ...headers }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  return `${method} ${isStorage ? uploadPath : place} HTTP/1.1\r\n${lines.join('')}\r\n`;
}

const filler = Buffer.alloc(Math.max(...BODY_BYTES), 'a');

/** Begins as an object with one long text. Sends more only if the head was not refused. */
async function unfinishedJson(target: Target, route: InputRoute): Promise<net.Socket[]> {
  const bodies = BODY_BYTES.flatMap((bytes) =>
    Array.from({ length: Math.min(MAX_BODIES, BODIES_OF_A_SIZE_BYTES / bytes) }, (_, index) => {
      const socket = connect(target, index);
      const headers = { 'content-type': 'application/json', 'content-length': bytes };
      socket.write(`${headOf(target, route, index, headers)}{"lines":"`);
      socket.once('data', () => socket.destroy());
      return { socket, bytes };
    }),
  );
  const sockets = bodies.map(({ socket }) => socket);
  await settled(target, sockets);
  for (const { socket, bytes } of bodies) if (!socket.destroyed) socket.write(filler.subarray(0, bytes - 64));
  return sockets;
}

function unfinishedForms(target: Target, route: InputRoute): net.Socket[] {
  const { field, maxBytes } = route.file ?? assert.fail();
  const whole = formBody([
    { ...fileEntry(filler.subarray(0, Math.min(maxBytes, 3 * MEBIBYTE))), name: field },
  ]);
  return Array.from({ length: FORMS }, (_, index) => {
    const socket = connect(target, index);
    socket.write(headOf(target, route, index, { 'content-type': FORM_TYPE, 'content-length': whole.length }));
    socket.write(whole.subarray(0, -64));
    return socket;
  });
}

/** Sends as many requests as possible without reading the answers. */
function unreadAnswers(target: Target, route: InputRoute): net.Socket[] {
  return Array.from({ length: 16 }, (_, index) => {
    const socket = connect(target, index);
    socket.pause();
    socket.write(headOf(target, route, index, {}).repeat(100));
    return socket;
  });
}

/** The largest allowed message, without its last byte. */
const unfinishedMessage = (): Buffer => {
  const head = Buffer.from([0x82, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
  head.writeUIntBE(256 * KIBIBYTE, 4, 6);
  return Buffer.concat([head, filler.subarray(0, 256 * KIBIBYTE - 1)]);
};

function upgrade(target: Target, route: InputRoute, index: number, query = ''): net.Socket {
  const socket = connect(target, index);
  const headers = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
    'sec-websocket-version': 13,
  };
  socket.write(headOf(target, { ...route, path: route.path + query }, index, headers));
  return socket;
}

async function unfinishedMessages(target: Target, route: InputRoute): Promise<net.Socket[]> {
  const message = unfinishedMessage();
  return Promise.all(
    Array.from({ length: CONNECTIONS }, async (_, index) => {
      const socket = upgrade(target, route, index);
      // A busy machine may be too late with its head: then the server closes without an answer.
      const answer = await new Promise((resolve) => socket.once('data', resolve).once('close', resolve));
      if (String(answer).includes(' 101 ')) socket.write(message);
      else socket.destroy();
      return socket;
    }),
  );
}

/** Audio just below the waiting limit, then an unfinished message. */
async function fullStreams({ port }: Target, { path }: InputRoute): Promise<net.Socket[]> {
  const clients = await Promise.all(
    Array.from({ length: STREAMS }, async (_, index) => {
      const key = index % 2 === 0 ? API_KEY : OTHER_API_KEY;
      const client = await StreamClient.connect(port, {
        path: `${path}?encoding=pcm16&sample_rate=${RATE_HZ}`,
        headers: { 'x-api-key': key },
        localAddress: addressOf(index),
      });
      return client instanceof StreamClient ? client : undefined;
    }),
  );
  const connected = clients.filter((client) => client !== undefined);
  for (const client of connected) {
    client.onMessage = (message) => {
      if (message.type !== 'ready') return;
      const bytes = 0.9 * message.max_waiting_s * RATE_HZ * 2;
      const send = (sent: number): void => {
        if (client.socket.destroyed) return;
        if (sent >= bytes) {
          client.socket.write(unfinishedMessage());
          return;
        }
        client.audio(filler.subarray(0, PIECE_BYTES));
        if (client.socket.writableLength > MEBIBYTE)
          client.socket.once('drain', () => send(sent + PIECE_BYTES));
        else setImmediate(() => send(sent + PIECE_BYTES));
      };
      send(0);
    };
    // It may have arrived before.
    for (const message of client.messages) client.onMessage(message);
  }
  return connected.map(({ socket }) => socket);
}

/** Resolves when the server accepts nothing more, after enough time to do so. */
async function settled({ port }: Target, sockets: readonly net.Socket[]): Promise<void> {
  const state = (): string =>
    sockets.map((socket) => `${socket.destroyed} ${socket.bytesWritten} ${socket.writableLength}`).join();
  for (let unchanged = 0, before = ''; unchanged < 3; ) {
    await request(port, '/livez');
    unchanged = before === state() ? unchanged + 1 : 0;
    before = state();
  }
}

type Attack = (target: Target, route: InputRoute) => net.Socket[] | Promise<net.Socket[]>;

function attacksOn({ method, file, isSocket }: InputRoute): readonly (readonly [what: string, Attack])[] {
  if (isSocket)
    return [
      ['unfinished messages', unfinishedMessages],
      ['audio that waits', fullStreams],
    ];
  if (method === 'GET') return [['unread answers', unreadAnswers]];
  return [
    ['unfinished bodies', unfinishedJson],
    ...(file === undefined ? [] : [['unfinished forms', unfinishedForms] as const]),
  ];
}

test('no route keeps more of what clients send, or do not read, than there is memory for', async (t) => {
  const target = await start(t);
  const { pid, port, routes } = target;
  const heldBytes = async (): Promise<number> => {
    const { text } = await request(port, '/metrics');
    return Number(/^veravox_client_memory_bytes (\S+)$/m.exec(text)?.[1]);
  };
  const attack = async (route: InputRoute, what: string, make: Attack): Promise<number> => {
    await target.giveBack();
    forgetPeak(pid);
    const sockets = await make(target, route);
    await settled(target, sockets);
    const peakBytes = memoryOf(pid, 'VmHWM');
    for (const socket of sockets) socket.destroy();
    await eventually(
      async () => (await heldBytes()) === 0,
      `${route.method} ${route.path}: memory of ${what} is given back`,
    );
    return peakBytes;
  };
  // Code loaded on demand.
  for (const route of routes) await request(port, route.path, { method: route.method });
  await target.giveBack();
  const idleBytes = memoryOf(pid, 'VmRSS');
  let most = { bytes: 0, name: '' };
  for (const route of routes) {
    for (const [what, make] of attacksOn(route)) {
      const name = `${what} to ${route.method} ${route.path}`;
      const bytes = (await attack(route, what, make)) - idleBytes;
      if (bytes > most.bytes) most = { bytes, name };
      const allowed = mayHoldBytes + SLACK_BYTES;
      assert.ok(bytes <= allowed, `${name}: ${bytes / MEBIBYTE} MiB, but ${allowed / MEBIBYTE} are allowed`);
    }
  }
  t.diagnostic(`at most ${Math.round(most.bytes / MEBIBYTE)} MiB, by ${most.name}`);
});
