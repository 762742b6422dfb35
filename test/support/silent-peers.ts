// SPDX-License-Identifier: Apache-2.0
//
// Programs that accept connections and then say nothing, or stop midway.
import { once } from 'node:events';
import net, { type AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';

/** `silent` never answers; `stalls` begins an answer; `drips` continues it, a byte at a time. */
export type Silence = 'silent' | 'stalls' | 'drips';

export interface SilentPeer {
  readonly port: number;
  readonly origin: string;
  /** Connections that the other side has not ended. */
  connections(): number;
  /** Requests that it did not answer completely. */
  held(): number;
}

/** Input before it falls silent. */
export interface HttpRequest {
  readonly method: string;
  readonly path: string;
  readonly origin: string;
}

/** The whole answer to a request; undefined for the one that it leaves unanswered. */
export type FirstAnswers = (request: HttpRequest) => string | undefined;

const DRIP_MS = 20;

/** @param react answers; called with everything that arrived since its last answer */
async function startPeer(
  t: TestContext,
  react: (received: Buffer, socket: net.Socket, origin: string) => 'answered' | 'held' | 'incomplete',
): Promise<SilentPeer> {
  const sockets = new Set<net.Socket>();
  const open = new Set<net.Socket>();
  let held = 0;
  // Like a hanging program, it does not notice that the other side has ended.
  const server = net.createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    open.add(socket);
    let received = Buffer.alloc(0);
    socket.on('error', () => {});
    for (const event of ['end', 'close']) socket.on(event, () => open.delete(socket));
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      const outcome = react(received, socket, origin);
      if (outcome === 'incomplete') return;
      received = Buffer.alloc(0);
      held += Number(outcome === 'held');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const origin = `http://127.0.0.1:${port}`;
  return { port, origin, connections: () => open.size, held: () => held };
}

function drip(socket: net.Socket): void {
  const timer = setInterval(() => socket.write(' '), DRIP_MS);
  socket.on('close', () => clearInterval(timer));
}

export function startSilentHttp(
  t: TestContext,
  silence: Silence,
  first: FirstAnswers = () => undefined,
): Promise<SilentPeer> {
  /** The rest of bodies, and the answers that follow. */
  const bodies = new WeakMap<net.Socket, { leftBytes: number; answer: string }>();
  return startPeer(t, (received, socket, origin) => {
    const body = bodies.get(socket);
    if (body !== undefined) {
      body.leftBytes -= received.length;
      if (body.leftBytes > 0) return 'answered';
      bodies.delete(socket);
      socket.write(body.answer);
      return 'answered';
    }
    const headBytes = received.indexOf('\r\n\r\n') + 4;
    if (headBytes < 4) return 'incomplete';
    const text = received.toString('latin1', 0, headBytes);
    const [, method = '', path = ''] = /^(\S+) (\S+)/.exec(text) ?? [];
    const answer = first({ method, path, origin });
    if (answer !== undefined) {
      const [, bodyBytes = 0] = /^content-length: (\d+)/im.exec(text) ?? [];
      const leftBytes = headBytes + Number(bodyBytes) - received.length;
      if (leftBytes > 0) bodies.set(socket, { leftBytes, answer });
      else socket.write(answer);
      return 'answered';
    }
    bodies.set(socket, { leftBytes: Number.POSITIVE_INFINITY, answer: '' });
    if (silence !== 'silent') socket.write(headOf(text));
    if (silence === 'drips') drip(socket);
    return 'held';
  });
}

/** An otherwise correct answer. */
function headOf(request: string): string {
  const [, first = '', last = ''] = /^range: bytes=(\d+)-(\d+)/im.exec(request) ?? [];
  if (first === '')
    return 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n';
  const range = `content-range: bytes ${first}-${last}/1000000\r\netag: "e"\r\n`;
  return `HTTP/1.1 206 Partial Content\r\ncontent-length: ${Number(last) - Number(first) + 1}\r\n${range}\r\n`;
}

export function httpAnswer(body: string, status = '200 OK', headers = ''): string {
  return `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\n${headers}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

const message = (type: string, content: Buffer): Buffer => {
  const head = Buffer.alloc(5, type);
  head.writeInt32BE(content.length + 4, 1);
  return Buffer.concat([head, content]);
};
const signedIn = Buffer.concat([message('R', Buffer.alloc(4)), message('Z', Buffer.from('I'))]);
const done = Buffer.concat([message('C', Buffer.from('SET\0')), message('Z', Buffer.from('I'))]);

/** A PostgreSQL server that is silent from the start, or lets clients in, listen, and stalls at the first real statement. */
export function startSilentPostgres(t: TestContext, silence: Silence): Promise<SilentPeer> {
  return startPeer(t, (received, socket) => {
    if (silence === 'silent') return 'held';
    const type = String.fromCharCode(received[0] ?? 0);
    if (type === '\0') {
      socket.write(signedIn);
      return 'answered';
    }
    if (type === 'Q' && /SET search_path|LISTEN/.test(received.toString())) {
      socket.write(done);
      return 'answered';
    }
    // The beginning of a description of very many rows.
    socket.write(Buffer.from([0x54, 0, 16, 0, 0, 0]));
    if (silence === 'drips') drip(socket);
    return 'held';
  });
}
