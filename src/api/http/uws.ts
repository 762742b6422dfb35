// SPDX-License-Identifier: Apache-2.0
import type { HttpResponse } from 'uWebSockets.js';
import type { Headers } from '../routes/route.js';

// Only this file and listener.ts import uWebSockets.js, so that its peculiarities stay in this folder.
export type {
  HttpRequest,
  HttpResponse,
  us_socket_context_t as SocketContext,
  WebSocket,
  WebSocketBehavior,
} from 'uWebSockets.js';

/** The buffer in which uWebSockets.js collects small answers before it hands them to the system. */
const CORK_BYTES = 16 * 1024;

/**
 * Ends a connection with an answer that reaches the client, without reading anything else that came with the request. The
 * bytes after a request of unclear length must never be read as another request, and only a closed socket stops
 * uWebSockets.js from parsing them. Closing discards collected answers, unless they are too large to be collected, so white
 * space fills up the body. Only while the request's handler runs.
 */
export function answerAndCut(res: HttpResponse, status: string, headers: Headers, body: string): void {
  writeUnended(res, status, headers, body.padEnd(CORK_BYTES + 1));
  res.close();
}

/** Sends the head of an answer without a body, while uWebSockets.js believes the request unanswered. */
export function writeHeadUnended(res: HttpResponse, status: string, headers: Headers): void {
  writeStatusAndHeaders(res, status, headers);
  // The line break that follows the value ends the head.
  res.writeHeader('connection', 'close\r\n');
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
