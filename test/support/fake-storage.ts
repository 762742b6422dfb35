// SPDX-License-Identifier: Apache-2.0
import { once } from 'node:events';
import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';

/** A server that acts as an object storage, or as a forbidden target. */
export interface FakeStorage {
  readonly port: number;
  readonly origin: string;
  /** The requests received, in order. */
  readonly requests: http.IncomingMessage[];
  /** Connections made so far. */
  connections(): Promise<number>;
}

export interface FakeStorageOptions {
  readonly host?: string;
  readonly port?: number;
}

/** Listens on a free port of the loopback until the test ends. */
export async function startFakeStorage(
  test: TestContext,
  handle: http.RequestListener,
  { host = '127.0.0.1', port = 0 }: FakeStorageOptions = {},
): Promise<FakeStorage> {
  const requests: http.IncomingMessage[] = [];
  const server = http.createServer((request, response) => {
    requests.push(request);
    handle(request, response);
  });
  /** The client ports of all connections. */
  const clients: (number | undefined)[] = [];
  let markers = 0;
  server.on('connection', (socket) => clients.push(socket.remotePort));
  server.listen(port, host);
  await once(server, 'listening');
  test.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const address = server.address() as AddressInfo;
  return {
    port: address.port,
    origin: `http://${net.isIPv6(host) ? `[${host}]` : host}:${address.port}`,
    requests,
    async connections() {
      // Connections are accepted in order: when this one is, all earlier ones have been counted.
      const marker = net.connect(address.port, host);
      await once(marker, 'connect');
      while (!clients.includes(marker.localPort)) await once(server, 'connection');
      marker.destroy();
      markers++;
      return clients.length - markers;
    },
  };
}

/** A target that must not be reached. */
export const startTrap = (test: TestContext, options?: FakeStorageOptions): Promise<FakeStorage> =>
  startFakeStorage(test, (_, response) => response.end('a secret'), options);
