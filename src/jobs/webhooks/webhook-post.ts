// SPDX-License-Identifier: Apache-2.0
import http from 'node:http';
import https from 'node:https';
import { acceptableAddresses, type FetchSurroundings } from '../../api/fetch/acceptable-addresses.js';
import { insecure, timedOut, unreachable } from '../../api/fetch/fetch-failure.js';
import type { FetchTarget } from '../../api/fetch/fetch-policy.js';
import { CallClock } from '../../base/outgoing/call-clock.js';
import { lookupOf } from '../../base/outgoing/names.js';

export interface PostedAnswer {
  readonly status: number;
  /** Seconds, if the answer names some. */
  readonly retryAfterS: number | undefined;
}

export interface PostOptions {
  readonly surroundings: FetchSurroundings;
  /** For everything. */
  readonly timeoutMs: number;
}

/** The rest of an answer is not waited for. */
const MAX_ANSWER_BYTES = 64 * 1024;

/**
 * One POST of JSON to an address that was judged for it, on a connection of its own. Follows no redirect and keeps nothing of
 * the answer's body.
 * @throws ServiceError FETCH_ADDRESS_REFUSED, FETCH_UNREACHABLE, FETCH_INSECURE, FETCH_TIMEOUT, or the signal's reason
 */
export async function postJson(
  target: FetchTarget,
  headers: Readonly<Record<string, string>>,
  body: string,
  { surroundings, timeoutMs }: PostOptions,
  signal: AbortSignal,
): Promise<PostedAnswer> {
  const clock = new CallClock({ stallTimeoutMs: timeoutMs, totalTimeoutMs: timeoutMs }, timedOut, signal);
  try {
    clock.signal.throwIfAborted();
    const addresses = await acceptableAddresses(target, surroundings, clock.signal, () => {});
    clock.signal.throwIfAborted();
    const { url } = target;
    const { request: start } = url.protocol === 'https:' ? https : http;
    const { ca } = surroundings;
    const request = start(url, {
      method: 'POST',
      agent: false,
      headers: {
        accept: '*/*',
        'user-agent': 'veravox',
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
        ...headers,
      },
      lookup: lookupOf(addresses),
      ...(ca && { ca }),
    });
    return await exchange(request, body, url.protocol === 'https:', clock.signal);
  } finally {
    clock.stop();
  }
}

function exchange(
  request: http.ClientRequest,
  body: string,
  isSecure: boolean,
  signal: AbortSignal,
): Promise<PostedAnswer> {
  return new Promise((resolve, reject) => {
    let isHandshaking = false;
    let answer: PostedAnswer | undefined;
    /** The client's status counts, even if its answer does not end. */
    const settle = (otherwise: () => unknown): void => {
      if (answer === undefined) reject(otherwise());
      else resolve(answer);
      request.destroy();
    };
    signal.addEventListener('abort', () => settle(() => signal.reason), { once: true });
    request.once('socket', (socket) => {
      const handshake = (isNow: boolean) => () => {
        isHandshaking = isNow;
      };
      socket.once('connect', handshake(isSecure)).once('secureConnect', handshake(false));
    });
    request.on('error', (error) => settle(() => (isHandshaking ? insecure : unreachable)(error)));
    request.on('close', () => settle(() => unreachable(new Error('closed without an answer'))));
    request.on('response', (response) => {
      answer = { status: response.statusCode ?? 0, retryAfterS: secondsIn(response.headers['retry-after']) };
      let bytes = 0;
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > MAX_ANSWER_BYTES) request.destroy();
      });
      response.on('error', () => request.destroy());
      response.on('end', () => request.destroy());
    });
    request.end(body);
  });
}

const secondsIn = (header: string | undefined): number | undefined =>
  header !== undefined && /^\d{1,6}$/.test(header) ? Number(header) : undefined;
