// SPDX-License-Identifier: Apache-2.0
import net from 'node:net';

const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program listens there; stop it, or set another port',
  EACCES: 'this user may not; ports below 1024 are for root, or set another port',
  EADDRNOTAVAIL: 'this machine has no such address',
  ENOTFOUND: 'there is no host of this name',
  EAFNOSUPPORT: 'this machine has no addresses of this kind',
  EMFILE: 'the process has too many files open',
};

/** Why a server cannot listen there. uWebSockets.js gives no reason, so this asks Node. */
export async function whyNotListening(host: string, port: number): Promise<string> {
  const code = await failureOf(host, port);
  const reason = code === undefined ? 'it was taken a moment ago' : (reasons[code] ?? code);
  return `Cannot listen on ${host} port ${port}: ${reason}.`;
}

function failureOf(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = net.createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}
