// SPDX-License-Identifier: Apache-2.0
//
// The only file that imports uWebSockets.js: one of two versions, and its peculiarities stay in this folder. The types are those of
// the older one, because the newer has all of it.
import type * as uws from 'uWebSockets.js-20.51';
import type { HttpResponse } from 'uWebSockets.js-20.51';
import { createRequire } from 'node:module';
import path from 'node:path';
import { isInstalledIn, packageDir } from '../../base/config/package-dir.js';
import '../../base/observe/report-without-network.js';
import type { Headers } from '../routes/route.js';

export type {
  HttpRequest,
  HttpResponse,
  TemplatedApp,
  us_socket_context_t as SocketContext,
  WebSocket,
  WebSocketBehavior,
} from 'uWebSockets.js-20.51';

const require = createRequire(import.meta.url);

/** The newer one first. Its binaries need a newer C library; the older one's end with Node 23. */
const packages = ['uWebSockets.js', 'uWebSockets.js-20.51'];

const loaded = load();
export const { App, SSLApp, us_listen_socket_close, us_socket_local_port } = loaded.api;
export const { version } = loaded;

function load(): { version: string; api: typeof uws } {
  const failures: string[] = [];
  for (const name of packages) {
    // Its package.json is not among the exports.
    const file = path.join(path.dirname(require.resolve(name)), 'package.json');
    const { version } = require(file) as { version: string };
    try {
      return { version, api: require(name) as typeof uws };
    } catch (error) {
      failures.push(`  ${version}: ${reasonOf(error as Error)}`);
    }
  }
  throw new Error(
    [
      `Expected a binary of uWebSockets.js for Node ${process.version} (${process.platform} ${process.arch}, ${cLibrary()}), but none loads. Node 22 needs glibc 2.27 or later; Node 24 and 26 need glibc 2.38, as in Debian 13 and Ubuntu 24.04.`,
      ...failures,
      `  to install those of another Node: ${isInstalledIn(packageDir) ? 'remove node_modules, then run npm install under it' : 'node scripts/setup.mjs'}`,
    ].join('\n'),
  );
}

/** The package's own sentence names the versions of Node that it supports, and then why the binary does not load. */
function reasonOf({ message }: Error): string {
  return /\n\nError: (.*)/.exec(message)?.[1] ?? message;
}

function cLibrary(): string {
  const report = process.report.getReport() as unknown as { header: { glibcVersionRuntime?: string } };
  const { glibcVersionRuntime } = report.header;
  return glibcVersionRuntime === undefined ? 'not glibc' : `glibc ${glibcVersionRuntime}`;
}

/** The buffer in which uWebSockets.js collects small answers before it hands them to the system. */
const CORK_BYTES = 16 * 1024;

/**
 * Ends a connection with an answer that reaches the client, without reading anything else that came with the request. The bytes
 * after a request of unclear length must never be read as another request, and only a closed socket stops uWebSockets.js from
 * parsing them. Closing discards collected answers, unless they are too large for that, so white space fills up the body. Only
 * while the request's handler runs.
 */
export function answerAndCut(res: HttpResponse, status: string, headers: Headers, body: string): void {
  writeUnended(res, status, headers, body.padEnd(CORK_BYTES + 1));
  res.close();
}

/** The same with an answer without a body, behind which clients skip line breaks. Also later. */
export function answerBodilessAndCut(res: HttpResponse, status: string, headers: Headers): void {
  res.cork(() => {
    writeStatusAndHeaders(res, status, headers);
    res.writeHeader('connection', `close${'\r\n'.repeat(CORK_BYTES / 2)}`);
  });
  res.close();
}

/**
 * Sends a complete answer while uWebSockets.js believes the request unanswered, so that the rest of its body still comes
 * to `onData` and can be discarded. Its own `end` would either close the socket immediately (if the client sent
 * `connection: close`), and the reset for the unread bytes would destroy the answer before the client reads it, or lose
 * track of the socket.
 *
 * uWebSockets.js writes header values unchanged, so the last value can contain the end of the head and the body; the line
 * break after it is white space at the end of the body. Must run inside `cork`.
 */
export function writeUnended(res: HttpResponse, status: string, headers: Headers, body: string): void {
  writeStatusAndHeaders(res, status, headers);
  const length = Buffer.byteLength(body) + '\r\n'.length;
  res.writeHeader('content-length', `${length}\r\n\r\n${body}`);
}

function writeStatusAndHeaders(res: HttpResponse, status: string, headers: Headers): void {
  res.writeStatus(status);
  for (const [name, value] of headers) res.writeHeader(name, value);
}
