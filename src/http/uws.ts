// SPDX-License-Identifier: Apache-2.0
import {
  App,
  type HttpRequest,
  type HttpResponse,
  us_listen_socket_close,
  us_socket_local_port,
} from 'uWebSockets.js';

// The one file that imports uWebSockets.js, so that what it is like to use stays in this folder.
export type { HttpRequest, HttpResponse } from 'uWebSockets.js';

export interface Listener {
  readonly port: number;
  /** Takes no further connections; those that exist go on. */
  stopListening(): void;
  /** Cuts off every connection. */
  close(): void;
}

/** Calls `handle` for every request, whatever its method and path. */
export function listen(
  host: string,
  port: number,
  handle: (res: HttpResponse, req: HttpRequest) => void,
): Promise<Listener> {
  return new Promise((resolve, reject) => {
    const app = App();
    app.any('/*', handle);
    app.listen(host, port, (socket) => {
      if (socket === false) {
        app.close();
        reject(new Error(`Cannot listen on ${host} port ${port}: is it in use, or not ours to take?`));
        return;
      }
      let isListening = true;
      resolve({
        port: us_socket_local_port(socket),
        stopListening() {
          if (isListening) us_listen_socket_close(socket);
          isListening = false;
        },
        close() {
          isListening = false;
          app.close();
        },
      });
    });
  });
}

/**
 * Sends a complete answer while uWebSockets.js goes on taking the request to be unanswered, so that the rest of its
 * body still comes to `onData` and can be thrown away. Its own `end` would either close the socket at once (when the
 * client had sent `connection: close`), and the reset for the unread bytes destroys the answer before the client has
 * read it, or lose sight of the socket.
 *
 * uWebSockets.js writes header values as they are given, so the last value can hold the end of the head and the body;
 * the line break that follows is white space at the end of the body. Must run inside `cork`.
 */
export function writeUnended(
  res: HttpResponse,
  status: string,
  headers: readonly (readonly [string, string])[],
  body: string,
): void {
  res.writeStatus(status);
  for (const [name, value] of headers) res.writeHeader(name, value);
  const length = Buffer.byteLength(body) + '\r\n'.length;
  res.writeHeader('content-length', `${length}\r\n\r\n${body}`);
}
