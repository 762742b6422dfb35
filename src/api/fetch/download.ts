// SPDX-License-Identifier: Apache-2.0
import type { LookupAddress } from 'node:dns';
import http from 'node:http';
import https from 'node:https';
import type { ArenaRegion } from '../../analysis/memory/arena.js';
import { ServiceError } from '../../base/errors/service-error.js';
import type { CallClock } from '../../base/outgoing/call-clock.js';
import { lookupOf } from '../../base/outgoing/names.js';
import { ArenaIntake, type IntakeLimits } from '../upload/arena-intake.js';
import type { ArenaQueue } from '../upload/arena-queue.js';
import { insecure, refusalOf, unreachable } from './fetch-failure.js';

export interface DownloadSource {
  readonly url: URL;
  /** The permitted addresses; nothing is resolved here. */
  readonly addresses: readonly LookupAddress[];
  /** Certificate authorities in place of Node's. */
  readonly ca: string | undefined;
  /** In addition to those of every download. */
  readonly headers?: Readonly<Record<string, string>>;
}

const headers = { accept: '*/*', 'accept-encoding': 'identity', 'user-agent': 'veravox' };

/** One GET, whose answer goes into the arena as it comes. Follows nothing, keeps no connection. */
class Download {
  readonly #clock: CallClock;
  readonly #queue: ArenaQueue;
  readonly #limits: IntakeLimits;
  readonly #resolve: (region: ArenaRegion) => void;
  readonly #reject: (error: unknown) => void;
  readonly #request: http.ClientRequest;
  #isHandshaking = false;
  #intake: ArenaIntake | undefined;
  #settled = false;

  constructor(
    { url, addresses, ca, headers: more }: DownloadSource,
    queue: ArenaQueue,
    limits: IntakeLimits,
    clock: CallClock,
    resolve: (region: ArenaRegion) => void,
    reject: (error: unknown) => void,
  ) {
    this.#clock = clock;
    this.#queue = queue;
    this.#limits = limits;
    this.#resolve = resolve;
    this.#reject = reject;
    const { request } = url.protocol === 'https:' ? https : http;
    // An agent of its own, so that no connection is used that was made for another request, or goes through a proxy.
    this.#request = request(url, {
      agent: false,
      headers: { ...headers, ...more },
      lookup: lookupOf(addresses),
      ...(ca && { ca }),
    });
    clock.signal.addEventListener('abort', () => this.#fail(clock.signal.reason), { once: true });
    this.#request.on('socket', (socket) => {
      socket.once('connect', () => {
        this.#isHandshaking = url.protocol === 'https:';
        clock.progress();
      });
      socket.once('secureConnect', () => {
        this.#isHandshaking = false;
        clock.progress();
      });
    });
    this.#request.on('error', (error) => this.#fail((this.#isHandshaking ? insecure : unreachable)(error)));
    // Without an error, such as after a switch of protocols that nobody asked for.
    this.#request.on('close', () => {
      if (this.#intake === undefined) this.#fail(unreachable(new Error('closed without an answer')));
    });
    this.#request.on('response', (response) => this.#receive(response));
    this.#request.end();
  }

  #receive(response: http.IncomingMessage): void {
    const clock = this.#clock;
    clock.progress();
    const length = response.headers['content-length'];
    response.on('error', (error) => this.#fail(unreachable(error)));
    try {
      const refusal = refusalOf(response.statusCode ?? 0, response.headers['content-encoding']);
      if (refusal !== undefined) throw refusal;
      const source = {
        declaredBytes: length === undefined ? undefined : Number(length),
        pause() {
          response.pause();
          clock.hold();
        },
        resume() {
          clock.start();
          response.resume();
        },
      };
      this.#intake = new ArenaIntake(source, this.#queue, this.#limits, {
        complete: (region) => this.#complete(region),
        failed: (error) => this.#fail(error),
      });
    } catch (error) {
      this.#fail(error);
      return;
    }
    const nothing = new Uint8Array(0);
    response.on('data', (chunk: Buffer) => this.#take(chunk, false));
    response.on('end', () => this.#take(nothing, true));
  }

  #take(chunk: Uint8Array, isLast: boolean): void {
    if (this.#settled) return;
    this.#clock.progress();
    try {
      this.#intake?.take(chunk, isLast);
    } catch (error) {
      this.#fail(error);
    }
  }

  #complete(region: ArenaRegion): void {
    this.#settled = true;
    if (region.length > 0) {
      this.#resolve(region);
      return;
    }
    this.#queue.release(region);
    this.#reject(new ServiceError('FILE_EMPTY', { field: 'presigned_url' }));
  }

  #fail(error: unknown): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#request.destroy();
    this.#intake?.abandon();
    this.#reject(error);
  }
}

/**
 * The region that holds the file is the caller's. Rejects with ServiceError, or with the reason of the clock's signal, as
 * soon as the file is known to be unacceptable or unavailable.
 */
export function download(
  source: DownloadSource,
  queue: ArenaQueue,
  limits: IntakeLimits,
  clock: CallClock,
): Promise<ArenaRegion> {
  return new Promise((resolve, reject) => {
    new Download(source, queue, limits, clock, resolve, reject);
  });
}
