// SPDX-License-Identifier: Apache-2.0
import http from 'node:http';
import { connect } from 'node:net';

export interface Answer {
  readonly status: number;
  readonly body: Buffer;
  readonly tookMs: number;
  readonly retryAfter: string | undefined;
}

export interface Call {
  readonly method?: string;
  readonly headers?: http.OutgoingHttpHeaders;
  readonly body?: Buffer;
  /** In addition to the path: the target of a link. */
  readonly target: string | URL;
}

const patienceMs = 300_000;

/** Keeps connections like real programs, fewer than requests, and opens new ones. */
export class Client {
  readonly port: number;
  readonly apiKey: string;
  readonly #agent = new http.Agent({ keepAlive: true, maxFreeSockets: 16, timeout: 5000 });

  constructor(port: number, apiKey: string) {
    this.port = port;
    this.apiKey = apiKey;
  }

  call({ method = 'GET', headers = {}, body, target }: Call): Promise<Answer> {
    const startedMs = performance.now();
    const isLink = target instanceof URL;
    const key = isLink ? {} : { 'x-api-key': this.apiKey };
    return new Promise((resolve, reject) => {
      const outgoing = http.request(
        {
          host: '127.0.0.1',
          port: this.port,
          path: isLink ? target.pathname + target.search : target,
          method,
          headers: { ...key, ...(body && { 'content-length': body.length }), ...headers },
          agent: this.#agent,
        },
        (incoming) => {
          const chunks: Buffer[] = [];
          incoming.on('data', (chunk) => chunks.push(chunk));
          incoming.on('error', reject);
          incoming.on('end', () =>
            resolve({
              status: incoming.statusCode ?? 0,
              body: Buffer.concat(chunks),
              tookMs: performance.now() - startedMs,
              retryAfter: incoming.headers['retry-after'],
            }),
          );
        },
      );
      outgoing.setTimeout(patienceMs, () => outgoing.destroy(new Error('no answer')));
      outgoing.on('error', reject);
      outgoing.end(body);
    });
  }

  /** Sends the first bytes of a form and hangs up; resolves when the connection is closed. */
  breakOff(head: string, body: Buffer, bytes: number): Promise<void> {
    return new Promise((resolve) => {
      const socket = connect(this.port, '127.0.0.1');
      socket.on('error', () => {});
      socket.on('close', () => resolve());
      socket.write(head);
      socket.write(body.subarray(0, bytes), () => socket.destroy());
    });
  }

  /** Sends a request little by little, as over a slow line; resolves with the status. */
  sendSlowly(head: string, body: Buffer, pieces: number, pauseMs: number): Promise<number> {
    return new Promise((resolve) => {
      const socket = connect(this.port, '127.0.0.1');
      let received = '';
      let at = 0;
      const size = Math.ceil(body.length / pieces);
      socket.write(head);
      const timer = setInterval(() => {
        if (at >= body.length) return;
        socket.write(body.subarray(at, at + size));
        at += size;
      }, pauseMs);
      socket.on('data', (chunk) => {
        received += chunk.toString('latin1');
        if (received.includes('\r\n\r\n')) socket.destroy();
      });
      socket.on('error', () => {});
      socket.on('close', () => {
        clearInterval(timer);
        resolve(Number(/^HTTP\/1\.1 (\d{3})/.exec(received)?.[1] ?? 0));
      });
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}
