// SPDX-License-Identifier: Apache-2.0
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';

export interface FakeAnswer {
  readonly status: number;
  readonly headers?: http.OutgoingHttpHeaders;
  readonly body?: unknown;
}

export interface ReceivedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface FakeService {
  readonly baseUrl: string;
  readonly received: ReceivedRequest[];
}

/** A server that answers as told, one answer after another and then always the last. */
export async function startFakeService(
  test: TestContext,
  answers: readonly FakeAnswer[],
): Promise<FakeService> {
  const received: ReceivedRequest[] = [];
  const server = http.createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request) chunks.push(chunk);
    } catch {
      // The client has closed the connection.
      return;
    }
    const { status, headers, body } = answers[Math.min(received.length, answers.length - 1)] as FakeAnswer;
    const { method = '', url = '' } = request;
    received.push({ method, url, headers: request.headers, body: Buffer.concat(chunks) });
    response.writeHead(status, headers);
    response.end(typeof body === 'string' ? body : JSON.stringify(body ?? {}));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  test.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received };
}
