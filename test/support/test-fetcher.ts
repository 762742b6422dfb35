// SPDX-License-Identifier: Apache-2.0
import type { LookupAddress } from 'node:dns';
import { isIP } from 'node:net';
import { UploadArena } from '../../src/analysis/memory/arena.js';
import { FetchPolicy } from '../../src/api/fetch/fetch-policy.js';
import {
  type FetchedFile,
  type FetchSurroundings,
  PresignedFetcher,
} from '../../src/api/fetch/presigned-fetcher.js';
import { ArenaQueue } from '../../src/api/upload/arena-queue.js';
import { parseAllowedHost } from '../../src/base/config/allowed-host.js';
import { ServiceError } from '../../src/base/errors/service-error.js';
import type { CallTimeouts } from '../../src/base/outgoing/call-clock.js';

export interface TestFetcherOptions {
  readonly storagePrefixes?: readonly string[];
  readonly allowedHosts?: readonly string[];
  readonly arenaBytes?: number;
  readonly maxFileBytes?: number;
  readonly timeouts?: Partial<CallTimeouts>;
  readonly surroundings?: Partial<FetchSurroundings>;
  /** The storage of links that are not fetched. */
  readonly storage?: ConstructorParameters<typeof PresignedFetcher>[4];
}

export const allowedHosts = (entries: readonly string[]) =>
  entries.map((entry) => parseAllowedHost(entry) ?? assertParsed(entry));

function assertParsed(entry: string): never {
  throw new Error(`${entry} is no allowed host.`);
}

/** A fetcher with its own arena. */
export class TestFetcher {
  readonly arena: UploadArena;
  readonly queue: ArenaQueue;
  /** Every resolved name. */
  readonly resolved: string[] = [];
  readonly #fetcher: PresignedFetcher;
  readonly #maxFileBytes: number;

  constructor(options: TestFetcherOptions = {}) {
    this.arena = new UploadArena(options.arenaBytes ?? 1 << 20);
    this.queue = new ArenaQueue(this.arena, { maxWaiting: 4, timeoutMs: 300_000 });
    this.#maxFileBytes = options.maxFileBytes ?? 1 << 19;
    const { surroundings = {} } = options;
    const resolve: FetchSurroundings['resolve'] = async (hostname, ...by) => {
      this.resolved.push(hostname);
      if (surroundings.resolve === undefined) throw new Error(`${hostname} should not be resolved`);
      return surroundings.resolve(hostname, ...by);
    };
    this.#fetcher = new PresignedFetcher(
      new FetchPolicy(() => options.storagePrefixes ?? [], allowedHosts(options.allowedHosts ?? [])),
      this.queue,
      { stallTimeoutMs: 300_000, totalTimeoutMs: 300_000, ...options.timeouts },
      { ...surroundings, resolve },
      options.storage,
    );
  }

  fetch(link: string, signal = new AbortController().signal): Promise<FetchedFile> {
    const allowedBytes = this.#maxFileBytes;
    const fileTooLarge = (): ServiceError => new ServiceError('FILE_TOO_LARGE', { allowedBytes, hint: '' });
    return this.#fetcher.receive(link, { maxFileBytes: allowedBytes, fileTooLarge }, signal);
  }

  /** A copy of the file's bytes; frees their memory. */
  async bytesOf(link: string): Promise<Buffer> {
    const { region, release } = await this.fetch(link);
    const bytes = Buffer.from(this.arena.bytes.slice(region.offset, region.offset + region.length));
    release();
    return bytes;
  }
}

export const answer = (...addresses: readonly string[]): LookupAddress[] =>
  addresses.map((address) => ({ address, family: isIP(address) }));
