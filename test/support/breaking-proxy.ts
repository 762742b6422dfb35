// SPDX-License-Identifier: Apache-2.0
import net, { type AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';

export interface BreakingProxy {
  readonly port: number;
  /** Bytes forwarded so far, over all connections. */
  readonly bytesToServer: number;
  /** Resets all connections, at both ends. */
  breakAll(): void;
}

/** Forwards bytes to a port of the loopback, until it is told to lose them. */
export async function breakingProxy(t: TestContext, port: number): Promise<BreakingProxy> {
  const sockets = new Set<net.Socket>();
  let bytesToServer = 0;
  const breakAll = (): void => {
    for (const socket of sockets) socket.resetAndDestroy();
    sockets.clear();
  };
  const server = net.createServer((near) => {
    const far = net.connect(port, '127.0.0.1');
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => {});
    }
    near.on('data', (chunk) => {
      bytesToServer += chunk.length;
    });
    near.pipe(far);
    far.pipe(near);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    breakAll();
    server.close();
  });
  return {
    port: (server.address() as AddressInfo).port,
    get bytesToServer() {
      return bytesToServer;
    },
    breakAll,
  };
}
