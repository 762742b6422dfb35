// SPDX-License-Identifier: Apache-2.0
//
// A WebSocket client (RFC 6455) on a raw socket, which can also misbehave.
import { createHash, randomBytes } from 'node:crypto';
import net from 'node:net';
import type { ServerMessage } from '../../src/base/contract/stream.js';
import { API_KEY } from './test-keys.js';
import { until } from './until.js';

const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
const TEXT = 1;
const BINARY = 2;
const CLOSE = 8;
const PING = 9;
const PONG = 10;

export interface StreamOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly path?: string;
  /** Source address that the server sees. */
  readonly localAddress?: string;
  /** A connection to use, such as one with TLS. */
  readonly socket?: net.Socket;
}

/** An answer other than a WebSocket. */
export interface Refusal {
  readonly status: number;
  readonly key: string | undefined;
}

export class StreamClient {
  readonly messages: ServerMessage[] = [];
  closeCode: number | undefined;
  isClosed = false;
  /** The head of the answer. */
  head = '';
  pings = 0;
  readonly socket: net.Socket;
  onMessage: (message: ServerMessage) => void = () => {};
  /** Resolves when the connection has ended. */
  readonly finished: Promise<void>;
  #bytes: Buffer = Buffer.alloc(0);

  private constructor(socket: net.Socket) {
    this.socket = socket;
    this.finished = new Promise((resolve) => {
      socket.on('close', () => {
        this.isClosed = true;
        resolve();
      });
    });
    socket.on('error', () => {});
  }

  /** Resolves with the client, or with the server's other answer. */
  static async connect(port: number, options: StreamOptions = {}): Promise<StreamClient | Refusal> {
    const { localAddress = '127.0.0.1' } = options;
    const socket = options.socket ?? net.connect({ port, host: '127.0.0.1', localAddress });
    const client = new StreamClient(socket);
    const key = randomBytes(16).toString('base64');
    const headers = {
      host: `127.0.0.1:${port}`,
      upgrade: 'websocket',
      connection: 'Upgrade',
      'sec-websocket-key': key,
      'sec-websocket-version': '13',
      'x-api-key': API_KEY,
      ...options.headers,
    };
    const lines = Object.entries(headers).filter(([, value]) => value !== '');
    socket.write(
      `GET ${options.path ?? '/v1/stream'} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`,
    );
    socket.on('data', (chunk: Buffer) => client.#take(chunk));
    await until(() => client.head !== '' || client.isClosed);
    const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(client.head)?.[1] ?? 0);
    if (status !== 101) {
      socket.destroy();
      return { status, key: /^x-error-key: (\S+)/im.exec(client.head)?.[1] };
    }
    const accept = createHash('sha1')
      .update(key + GUID)
      .digest('base64');
    if (!client.head.toLowerCase().includes(`sec-websocket-accept: ${accept.toLowerCase()}`))
      throw new Error('The handshake is wrong.');
    return client;
  }

  /** @throws Error if the server refuses */
  static async open(port: number, options: StreamOptions = {}): Promise<StreamClient> {
    const client = await StreamClient.connect(port, options);
    if (client instanceof StreamClient) return client;
    throw new Error(`Refused with ${client.status} ${client.key}.`);
  }

  say(message: unknown): void {
    this.#send(TEXT, Buffer.from(typeof message === 'string' ? message : JSON.stringify(message)));
  }

  audio(bytes: Uint8Array): void {
    this.#send(BINARY, bytes);
  }

  /** The first message of this type. */
  async next<Type extends ServerMessage['type']>(
    type: Type,
    count = 1,
  ): Promise<Extract<ServerMessage, { type: Type }>> {
    const found = () => this.messages.filter((message) => message.type === type);
    await until(() => found().length >= count || this.isClosed);
    const message = found()[count - 1];
    if (message === undefined)
      throw new Error(
        `No ${type}, but ${JSON.stringify(this.messages.slice(-2))} and code ${this.closeCode}.`,
      );
    return message as Extract<ServerMessage, { type: Type }>;
  }

  /** Error key and close code of a connection that the server ends. */
  async ended(): Promise<{ readonly key: string | undefined; readonly code: number | undefined }> {
    await until(() => this.isClosed);
    const error = this.messages.find((message) => message.type === 'error');
    return { key: error?.type === 'error' ? error.key : undefined, code: this.closeCode };
  }

  /** Without a close message. */
  vanish(): void {
    this.socket.resetAndDestroy();
  }

  #send(opcode: number, payload: Uint8Array): void {
    const mask = randomBytes(4);
    const { length } = payload;
    const head =
      length < 126
        ? Buffer.from([0x80 | opcode, 0x80 | length])
        : length < 65536
          ? Buffer.from([0x80 | opcode, 0x80 | 126, length >> 8, length & 255])
          : Buffer.from([
              0x80 | opcode,
              0x80 | 127,
              0,
              0,
              0,
              0,
              0,
              length >> 16,
              (length >> 8) & 255,
              length & 255,
            ]);
    const masked = Buffer.from(payload);
    for (let i = 0; i < length; i++) masked[i] = (masked[i] as number) ^ (mask[i & 3] as number);
    this.socket.write(Buffer.concat([head, mask, masked]));
  }

  #take(chunk: Buffer): void {
    this.#bytes = Buffer.concat([this.#bytes, chunk]);
    if (this.head === '') {
      const end = this.#bytes.indexOf('\r\n\r\n');
      if (end < 0) return;
      this.head = this.#bytes.toString('latin1', 0, end + 2);
      this.#bytes = this.#bytes.subarray(end + 4);
    }
    if (this.head.startsWith('HTTP/1.1 101')) while (this.#takeFrame());
  }

  #takeFrame(): boolean {
    const bytes = this.#bytes;
    if (bytes.length < 2) return false;
    const opcode = bytes.readUInt8(0) & 15;
    let length = bytes.readUInt8(1);
    let begin = 2;
    if (length === 126) {
      if (bytes.length < 4) return false;
      length = bytes.readUInt16BE(2);
      begin = 4;
    } else if (length === 127) {
      if (bytes.length < 10) return false;
      length = Number(bytes.readBigUInt64BE(2));
      begin = 10;
    }
    if (bytes.length < begin + length) return false;
    const payload = bytes.subarray(begin, begin + length);
    this.#bytes = bytes.subarray(begin + length);
    if (opcode === TEXT) {
      const message = JSON.parse(payload.toString('utf8')) as ServerMessage;
      this.messages.push(message);
      this.onMessage(message);
    }
    if (opcode === CLOSE) {
      this.closeCode = length >= 2 ? payload.readUInt16BE(0) : undefined;
      this.#send(CLOSE, payload);
    }
    if (opcode === PING) {
      this.pings++;
      this.#send(PONG, payload);
    }
    return true;
  }
}
