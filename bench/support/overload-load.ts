// SPDX-License-Identifier: Apache-2.0
//
// The load of overload.ts, in a separate process. Open loop: requests are sent when due, whatever happened to earlier
// ones. Uses bare sockets, since the load runs on the cores that it measures.
import { connect, type Socket } from 'node:net';

export interface LoadOrder {
  readonly port: number;
  readonly path: string;
  readonly durationS: number;
  /** Requests per second of each key; keys never wait for each other. */
  readonly keys: readonly { readonly apiKey: string; readonly name: string; readonly perS: number }[];
  /** Instead of a rate: connections of the first key that each send one request after another. */
  readonly closedConnections?: number;
  readonly slowClients: number;
  /** Whether requests come at random moments (a Poisson process) instead of evenly. */
  readonly isRandom?: boolean;
  /** Uploads per second that break off midway. */
  readonly abortsPerS: number;
  readonly boundary: string;
  /** The form, in base64. */
  readonly body: string;
}

export interface KeyResult {
  readonly name: string;
  readonly sent: number;
  readonly statuses: Readonly<Record<string, number>>;
  readonly withoutRetryAfter: number;
  readonly retryAfterS: { readonly min: number; readonly max: number } | undefined;
  /** Answered with 200 before the end, not while the load ran out. */
  readonly acceptedInTime: number;
  /** Time from the first byte sent to the last received. */
  readonly acceptedMs: readonly number[];
  readonly refusedMs: readonly number[];
}

export interface LoadResult {
  readonly keys: readonly KeyResult[];
  readonly broken: number;
  /** Requests that were due but not sent, for lack of connections. */
  readonly unsent: number;
  readonly slowOpened: number;
  readonly slowAnswered408: number;
  readonly aborts: number;
  /** Processor time of this process. */
  readonly cpuS: number;
}

const MAX_CONNECTIONS = 1200;
const SLOW_BYTES = 500;
const TICK_MS = 5;

class Tally {
  readonly name: string;
  sent = 0;
  readonly statuses: Record<string, number> = {};
  withoutRetryAfter = 0;
  minRetryS = Number.POSITIVE_INFINITY;
  maxRetryS = 0;
  acceptedInTime = 0;
  readonly acceptedMs: number[] = [];
  readonly refusedMs: number[] = [];

  constructor(name: string) {
    this.name = name;
  }

  note(head: string, tookMs: number, isInTime: boolean): void {
    const status = head.slice(9, 12);
    this.statuses[status] = (this.statuses[status] ?? 0) + 1;
    if (status === '200') {
      this.acceptedMs.push(tookMs);
      if (isInTime) this.acceptedInTime++;
      return;
    }
    this.refusedMs.push(tookMs);
    const retryAfter = /\r\nretry-after: (\d+)\r\n/i.exec(head)?.[1];
    if (retryAfter === undefined) {
      this.withoutRetryAfter++;
      return;
    }
    this.minRetryS = Math.min(this.minRetryS, Number(retryAfter));
    this.maxRetryS = Math.max(this.maxRetryS, Number(retryAfter));
  }
}

/** A keep-alive connection with one request at a time. */
interface Connection {
  readonly socket: Socket;
  received: string;
  tally: Tally | undefined;
  sentMs: number;
}

async function run(order: LoadOrder): Promise<LoadResult> {
  const body = Buffer.from(order.body, 'base64');
  const headFor = (apiKey: string): Buffer =>
    Buffer.from(
      `POST ${order.path} HTTP/1.1\r\nhost: 127.0.0.1\r\nx-api-key: ${apiKey}\r\n` +
        `content-type: multipart/form-data; boundary=${order.boundary}\r\ncontent-length: ${body.length}\r\n\r\n`,
    );
  const senders = order.keys.map(({ apiKey, name, perS }) => ({
    perS,
    request: Buffer.concat([headFor(apiKey), body]),
    tally: new Tally(name),
    dueS: 0,
  }));
  const gap = (): number => (order.isRandom === true ? -Math.log(1 - Math.random()) : 1);
  const first = headFor(order.keys[0]?.apiKey ?? '');
  const beganMs = performance.now();
  const endMs = beganMs + order.durationS * 1000;
  const idle: Connection[] = [];
  let open = 0;
  let pending = 0;
  let broken = 0;
  let unsent = 0;
  const isClosedLoop = order.closedConnections !== undefined;

  function finished(connection: Connection): void {
    const { tally, sentMs } = connection;
    if (tally === undefined) return;
    const nowMs = performance.now();
    const end = connection.received.indexOf('\r\n\r\n');
    if (end < 0) return;
    const head = connection.received.slice(0, end + 2);
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
    if (connection.received.length < end + 4 + length) return;
    tally.note(head, nowMs - sentMs, nowMs <= endMs);
    pending--;
    connection.tally = undefined;
    connection.received = '';
    if (/\r\nconnection: close\r\n/i.test(head)) connection.socket.destroy();
    else if (isClosedLoop && nowMs < endMs) send(connection, 0);
    else idle.push(connection);
  }

  function makeConnection(): Connection {
    const socket = connect({ port: order.port, host: '127.0.0.1', noDelay: true });
    const connection: Connection = { socket, received: '', tally: undefined, sentMs: 0 };
    open++;
    socket.setEncoding('latin1');
    socket.on('data', (text: string) => {
      connection.received += text;
      finished(connection);
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      open--;
      const index = idle.indexOf(connection);
      if (index >= 0) idle.splice(index, 1);
      if (connection.tally === undefined) return;
      connection.tally = undefined;
      pending--;
      broken++;
    });
    return connection;
  }

  function send(connection: Connection, senderIndex: number): void {
    const sender = senders[senderIndex];
    if (sender === undefined) return;
    sender.tally.sent++;
    pending++;
    connection.tally = sender.tally;
    connection.sentMs = performance.now();
    connection.socket.write(sender.request);
  }

  let slowOpen = 0;
  let slowOpened = 0;
  let slowAnswered408 = 0;
  function openSlow(): void {
    slowOpen++;
    slowOpened++;
    const socket = connect(order.port, '127.0.0.1');
    socket.write(Buffer.concat([first, body.subarray(0, SLOW_BYTES)]));
    const timer = setInterval(() => socket.write('x'), 1000);
    socket.on('data', (chunk) => {
      if (chunk.toString('latin1', 0, 12) === 'HTTP/1.1 408') slowAnswered408++;
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      slowOpen--;
      clearInterval(timer);
    });
    setTimeout(() => socket.destroy(), Math.max(0, endMs - performance.now())).unref();
  }

  let aborts = 0;
  function abortOne(): void {
    aborts++;
    const socket = connect(order.port, '127.0.0.1');
    socket.on('error', () => {});
    const isWhole = Math.random() < 0.5;
    socket.write(
      Buffer.concat([first, isWhole ? body : body.subarray(0, Math.floor(body.length * Math.random()))]),
    );
    setTimeout(() => socket.destroy(), Math.random() * 300);
  }

  const cpuBefore = process.cpuUsage();
  for (let i = 0; i < (order.closedConnections ?? 0); i++) send(makeConnection(), 0);
  await new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      const nowMs = performance.now();
      if (nowMs >= endMs) {
        clearInterval(timer);
        resolve();
        return;
      }
      const elapsedS = (nowMs - beganMs) / 1000;
      senders.forEach((sender, index) => {
        for (; !isClosedLoop && sender.dueS < elapsedS; sender.dueS += gap() / sender.perS) {
          const connection = idle.pop() ?? (open < MAX_CONNECTIONS ? makeConnection() : undefined);
          if (connection === undefined) unsent++;
          else send(connection, index);
        }
      });
      // Spreads them, not all in the first moment.
      for (let i = 0; i < 20 && slowOpen < order.slowClients; i++) openSlow();
      while (aborts < elapsedS * order.abortsPerS) abortOne();
    }, TICK_MS);
  });
  const cpu = process.cpuUsage(cpuBefore);
  const drainUntilMs = performance.now() + 15_000;
  while (pending > 0 && performance.now() < drainUntilMs)
    await new Promise((resolve) => setTimeout(resolve, 20));
  const keys = senders.map(({ tally }): KeyResult => {
    const { name, sent, statuses, withoutRetryAfter, acceptedInTime, acceptedMs, refusedMs } = tally;
    return {
      name,
      sent,
      statuses,
      withoutRetryAfter,
      retryAfterS: tally.maxRetryS === 0 ? undefined : { min: tally.minRetryS, max: tally.maxRetryS },
      acceptedInTime,
      acceptedMs,
      refusedMs,
    };
  });
  const cpuS = (cpu.user + cpu.system) / 1e6;
  return { keys, broken, unsent, slowOpened, slowAnswered408, aborts, cpuS };
}

process.on('message', (order: LoadOrder) => {
  void run(order).then((result) => {
    process.send?.(result, () => process.exit(0));
  });
});
