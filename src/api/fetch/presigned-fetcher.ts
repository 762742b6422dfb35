// SPDX-License-Identifier: Apache-2.0
import { promises as dns, type LookupAddress } from 'node:dns';
import { isIP } from 'node:net';
import type { ArenaRegion } from '../../analysis/memory/arena.js';
import { ServiceError } from '../../base/errors/service-error.js';
import { nobody } from '../admission/shared-budget.js';
import type { ArenaQueue } from '../upload/arena-queue.js';
import { download } from './download.js';
import { FetchClock, type FetchTimeouts } from './fetch-clock.js';
import { unreachable } from './fetch-failure.js';
import type { FetchPolicy, FetchTarget } from './fetch-policy.js';
import { isPublicAddress } from './public-address.js';

/** A file in upload memory; the caller must release it. */
export interface FetchedFile {
  readonly region: ArenaRegion;
  readonly bytes: number;
  release(): void;
}

export interface FetchLimits {
  readonly maxFileBytes: number;
  readonly fileTooLarge: () => ServiceError;
}

/** What a fetch asks of the world around it. Tests have names and addresses of their own. */
export interface FetchSurroundings {
  readonly resolve: (hostname: string) => Promise<readonly LookupAddress[]>;
  readonly isPublicAddress: (address: string) => boolean;
  /** Certificate authorities in place of Node's. */
  readonly ca?: string;
}

const surroundings: FetchSurroundings = {
  // As every other program here resolves names, with /etc/hosts; dns.resolve would ask the name server only.
  resolve: (hostname) => dns.lookup(hostname, { all: true }),
  isPublicAddress,
};

/** Fetches files behind presigned links into upload memory, from where the policy lets it and nowhere else. */
export class PresignedFetcher {
  readonly #policy: FetchPolicy;
  readonly #queue: ArenaQueue;
  readonly #timeouts: FetchTimeouts;
  readonly #surroundings: FetchSurroundings;

  constructor(
    policy: FetchPolicy,
    queue: ArenaQueue,
    timeouts: FetchTimeouts,
    overrides: Partial<FetchSurroundings> = {},
  ) {
    this.#policy = policy;
    this.#queue = queue;
    this.#timeouts = timeouts;
    this.#surroundings = { ...surroundings, ...overrides };
  }

  /** Rejects with ServiceError, or with the signal's reason. */
  async receive(
    link: string,
    limits: FetchLimits,
    signal: AbortSignal,
    holder = nobody,
  ): Promise<FetchedFile> {
    const target = this.#policy.judge(link);
    const clock = new FetchClock(this.#timeouts, signal);
    try {
      clock.signal.throwIfAborted();
      const addresses = await this.#addressesOf(target, clock);
      const { ca } = this.#surroundings;
      const intakeLimits = { maxBytes: limits.maxFileBytes, tooLarge: limits.fileTooLarge, holder };
      const region = await download({ url: target.url, addresses, ca }, this.#queue, intakeLimits, clock);
      return { region, bytes: region.length, release: () => this.#queue.release(region) };
    } finally {
      clock.stop();
    }
  }

  /** One special address among public ones refuses them all: such a name is broken, or somebody's trick. */
  async #addressesOf({ url, isStorage }: FetchTarget, clock: FetchClock): Promise<readonly LookupAddress[]> {
    const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
    const family = isIP(host);
    // Node connects to an address without asking `lookup`, so it is judged here like any other.
    const addresses = family === 0 ? await this.#resolve(host, clock) : [{ address: host, family }];
    const isAcceptable =
      isStorage || addresses.every(({ address }) => this.#surroundings.isPublicAddress(address));
    if (!isAcceptable) throw new ServiceError('FETCH_ADDRESS_REFUSED', { host });
    return addresses;
  }

  #resolve(hostname: string, clock: FetchClock): Promise<readonly LookupAddress[]> {
    const { signal } = clock;
    return new Promise((resolve, reject) => {
      // Nothing can take back the question; its answer is then ignored.
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
      this.#surroundings.resolve(hostname).then(
        (addresses) => {
          clock.progress();
          if (addresses.length > 0) resolve(addresses);
          else reject(unreachable(new Error(`${hostname} has no address`)));
        },
        (error) => reject(unreachable(error)),
      );
    });
  }
}
