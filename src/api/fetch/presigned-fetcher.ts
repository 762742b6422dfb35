// SPDX-License-Identifier: Apache-2.0
//
// This room reads files behind links that clients send, and posts webhooks. It checks the host and every
// resolved address, and connects nowhere else.
import type { ArenaRegion } from '../../analysis/memory/arena.js';
import type { ServiceError } from '../../base/errors/service-error.js';
import { CallClock, type CallTimeouts, openedInTime, totalOnly } from '../../base/outgoing/call-clock.js';
import type { ObjectStorage } from '../../state/storage/object-storage.js';
import type { Holder } from '../admission/shared-budget.js';
import type { IntakeLimits } from '../upload/arena-intake.js';
import type { ArenaQueue } from '../upload/arena-queue.js';
import { acceptableAddresses, type FetchSurroundings, surroundings } from './acceptable-addresses.js';
import { download } from './download.js';
import { timedOut } from './fetch-failure.js';
import type { FetchPolicy, FetchTarget } from './fetch-policy.js';
import { load, openStored } from './stored-object.js';

/** A file in upload memory; the caller must release it. */
export interface FetchedFile {
  readonly region: ArenaRegion;
  readonly bytes: number;
  release(): void;
}

type OwnStorage = Pick<ObjectStorage, 'isOwnLink' | 'nameBehind' | 'openSource'>;

export interface FetchLimits {
  readonly maxFileBytes: number;
  readonly fileTooLarge: () => ServiceError;
}

/** The request that wants the file. */
export interface FetchClient {
  /** Of the upload memory; default nobody in particular. */
  readonly holder?: Holder | undefined;
  readonly account?: string | undefined;
  /** For the configured storage; other hosts do not get it. */
  readonly traceparent?: string | undefined;
}

/** Fetches files behind presigned links into upload memory, from permitted addresses only. */
export class PresignedFetcher {
  readonly #policy: FetchPolicy;
  readonly #queue: ArenaQueue;
  readonly #timeouts: CallTimeouts;
  readonly #surroundings: FetchSurroundings;
  readonly #storage: OwnStorage | undefined;

  /** @param storage the configured one, whose own links are not fetched */
  constructor(
    policy: FetchPolicy,
    queue: ArenaQueue,
    timeouts: CallTimeouts,
    overrides: Partial<FetchSurroundings> = {},
    storage?: OwnStorage,
  ) {
    this.#storage = storage;
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
    { holder, account, traceparent }: FetchClient = {},
  ): Promise<FetchedFile> {
    const target = { ...this.#policy.judge(link), account };
    const intakeLimits = { maxBytes: limits.maxFileBytes, tooLarge: limits.fileTooLarge, holder };
    const storage = this.#ownStorage(target);
    const stored = storage && (await this.#loadStored(storage, target.url, intakeLimits, signal));
    if (stored !== undefined) return this.#fetched(stored);
    const clock = new CallClock(this.#timeouts, timedOut, signal);
    try {
      clock.signal.throwIfAborted();
      const addresses = await acceptableAddresses(target, this.#surroundings, clock.signal, () =>
        clock.progress(),
      );
      clock.signal.throwIfAborted();
      const { ca } = this.#surroundings;
      const headers = target.isStorage && traceparent !== undefined ? { traceparent } : {};
      const source = { url: target.url, addresses, ca, headers };
      return this.#fetched(await download(source, this.#queue, intakeLimits, clock));
    } finally {
      clock.stop();
    }
  }

  /** Undefined for a link of others. No promise: a fetch without it begins in the same moment. */
  #ownStorage({ url, isStorage }: FetchTarget): OwnStorage | undefined {
    return isStorage && this.#storage?.isOwnLink(url) ? this.#storage : undefined;
  }

  /** A bucket has its own limits on pauses: a block of a slow one may take long. */
  async #loadStored(
    storage: OwnStorage,
    link: URL,
    limits: IntakeLimits,
    signal: AbortSignal,
  ): Promise<ArenaRegion | undefined> {
    const clock = new CallClock(totalOnly(this.#timeouts.totalTimeoutMs), timedOut, signal);
    try {
      clock.signal.throwIfAborted();
      const stored = await openedInTime(clock.signal, openStored(storage, link));
      if (stored === undefined) return undefined;
      try {
        return await load(stored, this.#queue, limits, clock);
      } finally {
        await stored.close();
      }
    } finally {
      clock.stop();
    }
  }

  #fetched(region: ArenaRegion): FetchedFile {
    return { region, bytes: region.length, release: () => this.#queue.release(region) };
  }
}

export type { FetchSurroundings };
