// SPDX-License-Identifier: Apache-2.0
import type { HttpResponse } from 'uWebSockets.js';
import type { Headers } from '../routes/route.js';

// With listener.ts the only file that imports uWebSockets.js, so that what it is like to use stays in this folder.
export type { HttpRequest, HttpResponse } from 'uWebSockets.js';

/** What uWebSockets.js collects of small answers before it hands them to the system. */
const CORK_BYTES = 16 * 1024;

/**
 * Ends a connection with an answer that reaches the client, without reading what else came with the request. The bytes
 * behind a request of unclear length must never be taken for another one, and only a closed socket stops
 * uWebSockets.js from parsing them. What is closed takes along what is collected of the answer, unless it is too much to
 * be collected; so white space fills the body up. Only while the request's handler runs.
 */
export function answerAndCut(res: HttpResponse, status: string, headers: Headers, body: string): void {
  writeUnended(res, status, headers, body.padEnd(CORK_BYTES + 1));
  res.close();
}

/** Sends the head of an answer that has no body, and leaves the request unanswered in uWebSockets.js' eyes. */
export function writeHeadUnended(res: HttpResponse, status: string, headers: Headers): void {
  writeStatusAndHeaders(res, status, headers);
  // The line break that follows the value ends the head.
  res.writeHeader('connection', 'close\r\n');
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
export function writeUnended(res: HttpResponse, status: string, headers: Headers, body: string): void {
  writeStatusAndHeaders(res, status, headers);
  const length = Buffer.byteLength(body) + '\r\n'.length;
  res.writeHeader('content-length', `${length}\r\n\r\n${body}`);
}

function writeStatusAndHeaders(res: HttpResponse, status: string, headers: Headers): void {
  res.writeStatus(status);
  for (const [name, value] of headers) res.writeHeader(name, value);
}
