// SPDX-License-Identifier: Apache-2.0
import http from 'node:http';
import net from 'node:net';
import { FORM_TYPE } from './form-body.js';
import { API_KEY } from './test-keys.js';

export interface Answer {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read arbitrary members of what the server sent
  readonly json: any;
}

export interface RequestOptions {
  readonly method?: string;
  readonly headers?: http.OutgoingHttpHeaders;
  readonly body?: Uint8Array;
  readonly agent?: http.Agent;
}

/**
 * On its own connection unless there is an agent: the shared agent could reuse a connection that the server is just
 * closing, after a long pause in a test on a busy machine.
 */
export function request(port: number, path: string, options: RequestOptions = {}): Promise<Answer> {
  const { method = 'GET', body, agent = false } = options;
  // Still asks the server to keep the connection, like nearly all clients.
  const headers = { connection: 'keep-alive', ...options.headers };
  return new Promise((resolve, reject) => {
    const outgoing = http.request({ host: '127.0.0.1', port, path, method, headers, agent }, (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk) => chunks.push(chunk));
      incoming.on('error', reject);
      incoming.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        const isJson = incoming.headers['content-type']?.startsWith('application/json');
        const json = isJson && text !== '' ? JSON.parse(text) : undefined;
        resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, text, json });
      });
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

/** Posts a form with a valid key, unless the headers say otherwise. */
export function postForm(
  port: number,
  path: string,
  body: Uint8Array,
  options: Omit<RequestOptions, 'body' | 'method'> = {},
): Promise<Answer> {
  const length = options.headers?.['transfer-encoding'] ? {} : { 'content-length': body.length };
  const headers = { 'x-api-key': API_KEY, 'content-type': FORM_TYPE, ...length, ...options.headers };
  return request(port, path, { ...options, method: 'POST', headers, body });
}

export function predict(
  port: number,
  body: Uint8Array,
  options: Omit<RequestOptions, 'body' | 'method'> = {},
): Promise<Answer> {
  return postForm(port, '/v1/predict', body, options);
}

/** The head of a `POST` for clients that write directly to the socket. */
export function predictHead(headers: Record<string, string | number>, path = '/v1/predict'): string {
  const all = { host: 'localhost', 'x-api-key': API_KEY, 'content-type': FORM_TYPE, ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n`;
}

/** A bare connection that collects the server's bytes. */
export class RawClient {
  readonly socket: net.Socket;
  received = '';
  readonly closed: Promise<void>;
  #onData: (() => void) | undefined;

  private constructor(socket: net.Socket) {
    this.socket = socket;
    socket.setNoDelay(true);
    socket.on('data', (chunk) => {
      this.received += chunk.toString('latin1');
      this.#onData?.();
    });
    socket.on('error', () => {});
    this.closed = new Promise((resolve) => {
      socket.on('close', () => {
        resolve();
        this.#onData?.();
      });
    });
  }

  /** @param localAddress source address; on Linux any of 127.0.0.0/8 */
  static connect(port: number, localAddress = '127.0.0.1'): Promise<RawClient> {
    return new Promise((resolve, reject) => {
      const socket = net.connect({ port, host: '127.0.0.1', localAddress }, () =>
        resolve(new RawClient(socket)),
      );
      socket.once('error', reject);
    });
  }

  write(data: string | Uint8Array): Promise<void> {
    return new Promise((resolve) => {
      this.socket.write(data, () => resolve());
    });
  }

  /** Resolves when the received text matches; rejects if the server closes the connection first. */
  async until(pattern: RegExp): Promise<string> {
    while (!pattern.test(this.received)) {
      if (this.socket.destroyed) throw new Error(`Closed before ${pattern}; received: ${this.received}`);
      await new Promise<void>((resolve) => {
        this.#onData = resolve;
      });
    }
    return this.received;
  }
}
