// SPDX-License-Identifier: Apache-2.0
import http from 'node:http';
import https from 'node:https';
import type { LookupFunction } from 'node:net';
import type { ByteSource } from '../../base/byte-source/byte-source.js';
import { identityOf } from '../../base/byte-source/identity.js';
import { withRetries } from '../../base/byte-source/retries.js';
import { ServiceError } from '../../base/errors/service-error.js';
import { CallClock, type CallTimeouts } from '../../base/outgoing/call-clock.js';
import { acceptableAddresses, type FetchSurroundings } from './acceptable-addresses.js';
import { insecure, refusalOf, timedOut, unreachable } from './fetch-failure.js';
import type { FetchTarget } from './fetch-policy.js';

/** Tells the versions of a file apart. */
interface Version {
  readonly bytes: number;
  readonly etag: string;
  readonly lastModified: string;
}

export interface LinkSourceOptions {
  readonly surroundings: FetchSurroundings;
  /** For each range. */
  readonly timeouts: CallTimeouts;
  readonly retryPausesMs?: readonly number[];
}

/** One range, and the blocks read ahead. */
const MAX_CONNECTIONS = 3;
const TOTAL = /^bytes (\d+)-(\d+)\/(\d+)$/;
/** The file is not missing, and may be readable later. */
const TRANSIENT = new Set(['FETCH_UNREACHABLE', 'FETCH_FAILED', 'FETCH_TIMEOUT']);
const isTransient = (error: unknown): boolean => error instanceof ServiceError && TRANSIENT.has(error.key);

const headers = { accept: '*/*', 'accept-encoding': 'identity', 'user-agent': 'veravox' };

/**
 * The file behind a link, read in ranges. Each connection goes to addresses that were judged for it, redirects are refused, and
 * each answer must be of the version that was there when it was opened.
 */
export class LinkSource implements ByteSource {
  readonly #target: FetchTarget;
  readonly #options: LinkSourceOptions;
  readonly #agent: http.Agent;
  #version: Version | undefined;

  private constructor(target: FetchTarget, options: LinkSourceOptions) {
    this.#target = target;
    this.#options = options;
    const { Agent } = target.url.protocol === 'https:' ? https : http;
    // Of its own, so that no connection is used that was made for another link, or goes through a proxy.
    this.#agent = new Agent({ keepAlive: true, maxSockets: MAX_CONNECTIONS });
  }

  /** @throws ServiceError as PresignedFetcher does, FETCH_NO_RANGES, or the signal's reason */
  static async open(
    target: FetchTarget,
    options: LinkSourceOptions,
    signal: AbortSignal,
  ): Promise<LinkSource> {
    const source = new LinkSource(target, options);
    try {
      await withRetries(
        () => source.#request(new Uint8Array(1), 0, signal),
        isTransient,
        signal,
        options.retryPausesMs,
      );
      return source;
    } catch (error) {
      await source.close();
      throw error;
    }
  }

  get bytes(): number {
    return this.#version?.bytes ?? 0;
  }

  /** Without the query, which holds a signature: another link to the same object continues it. */
  get identity(): string {
    const { url } = this.#target;
    const { bytes = 0, etag = '', lastModified = '' } = this.#version ?? {};
    return identityOf(url.origin, url.pathname, etag, lastModified, bytes);
  }

  read(into: Uint8Array, offset: number, signal: AbortSignal): Promise<void> {
    const once = (): Promise<void> => this.#request(into, offset, signal);
    return withRetries(once, isTransient, signal, this.#options.retryPausesMs);
  }

  async close(): Promise<void> {
    this.#agent.destroy();
  }

  async #request(into: Uint8Array, offset: number, signal: AbortSignal): Promise<void> {
    const clock = new CallClock(this.#options.timeouts, timedOut, signal);
    try {
      clock.signal.throwIfAborted();
      // An address in the link itself is connected to without a lookup.
      await this.#judgeAddress(clock);
      clock.signal.throwIfAborted();
      await this.#exchange(into, offset, clock);
    } finally {
      clock.stop();
    }
  }

  #judgeAddress(clock: CallClock) {
    const { surroundings } = this.#options;
    return acceptableAddresses(this.#target, surroundings, clock.signal, () => clock.progress());
  }

  #exchange(into: Uint8Array, offset: number, clock: CallClock): Promise<void> {
    const { url } = this.#target;
    const { ca } = this.#options.surroundings;
    const etag = this.#version?.etag ?? '';
    const range = `bytes=${offset}-${offset + into.length - 1}`;
    return new Promise((resolve, reject) => {
      const { request: start } = url.protocol === 'https:' ? https : http;
      // Asked for every new connection, and judged anew.
      const lookup: LookupFunction = (_hostname, { all }, callback) => {
        this.#judgeAddress(clock).then(
          (addresses) => {
            const [first] = addresses;
            if (all || first === undefined) callback(null, [...addresses]);
            else callback(null, first.address, first.family);
          },
          (error) => callback(error, ''),
        );
      };
      const request = start(url, {
        agent: this.#agent,
        headers: { ...headers, range, ...(isStrong(etag) && { 'if-range': etag }) },
        lookup,
        ...(ca && { ca }),
      });
      let isHandshaking = false;
      const fail = (error: unknown): void => {
        request.destroy();
        reject(error);
      };
      const failed = (error: Error): void => {
        if (error instanceof ServiceError) fail(error);
        else fail((isHandshaking ? insecure : unreachable)(error));
      };
      clock.signal.addEventListener('abort', () => fail(clock.signal.reason), { once: true });
      request.on('socket', (socket) => {
        // A kept connection would collect listeners that are never called.
        if (!socket.connecting) return;
        socket.once('connect', () => {
          isHandshaking = url.protocol === 'https:';
          clock.progress();
        });
        socket.once('secureConnect', () => {
          isHandshaking = false;
          clock.progress();
        });
      });
      request.on('error', failed);
      request.on('close', () => reject(unreachable(new Error('closed without an answer'))));
      request.on('response', (response) => {
        clock.progress();
        response.on('error', failed);
        try {
          this.#checkHead(response, offset, into.length);
        } catch (error) {
          fail(error);
          return;
        }
        let done = 0;
        response.on('data', (chunk: Buffer) => {
          clock.progress();
          if (done + chunk.length > into.length) {
            fail(unreachable(new Error('more came than was asked for')));
            return;
          }
          into.set(chunk, done);
          done += chunk.length;
        });
        response.on('end', () => {
          if (done === into.length) resolve();
          else fail(unreachable(new Error('the answer was cut short')));
        });
      });
      request.end();
    });
  }

  #checkHead(response: http.IncomingMessage, offset: number, length: number): void {
    const { statusCode: status = 0, headers: given } = response;
    const known = this.#version;
    const contentRange = given['content-range'] ?? '';
    if (status === 416 && contentRange === 'bytes */0' && known === undefined) {
      throw new ServiceError('FILE_EMPTY', { field: 'presigned_url' });
    }
    if (known !== undefined && [200, 412, 416].includes(status)) throw new ServiceError('FILE_CHANGED');
    if (status === 200) throw new ServiceError('FETCH_NO_RANGES');
    // Storage that has too much to do says so with these.
    if (status === 408 || status === 429) throw new ServiceError('FETCH_FAILED', { status });
    const refusal = refusalOf(status === 206 ? 200 : status || 500, given['content-encoding']);
    if (refusal !== undefined) throw refusal;
    const [, first, last, total] = TOTAL.exec(contentRange) ?? [];
    if (Number(first) !== offset || Number(last) !== offset + length - 1) {
      throw new ServiceError('FETCH_NO_RANGES');
    }
    const version: Version = {
      bytes: Number(total),
      etag: given.etag ?? '',
      lastModified: given['last-modified'] ?? '',
    };
    this.#version ??= version;
    const isSame = (['bytes', 'etag', 'lastModified'] as const).every(
      (field) => version[field] === this.#version?.[field],
    );
    if (!isSame) throw new ServiceError('FILE_CHANGED');
  }
}

/** A weak one may stand for other bytes, and must not be sent with a range. */
const isStrong = (etag: string): boolean => etag.startsWith('"');
