// SPDX-License-Identifier: Apache-2.0
import type { ArenaRegion } from '../../analysis/memory/arena.js';
import type { ServiceError } from '../../base/errors/service-error.js';
import { CallClock, type CallTimeouts } from '../../base/outgoing/call-clock.js';
import { nobody } from '../admission/shared-budget.js';
import type { ArenaQueue } from '../upload/arena-queue.js';
import { acceptableAddresses, type FetchSurroundings, surroundings } from './acceptable-addresses.js';
import { download } from './download.js';
import { timedOut } from './fetch-failure.js';
import type { FetchPolicy } from './fetch-policy.js';

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

/** Fetches files behind presigned links into upload memory, from where the policy lets it and nowhere else. */
export class PresignedFetcher {
  readonly #policy: FetchPolicy;
  readonly #queue: ArenaQueue;
  readonly #timeouts: CallTimeouts;
  readonly #surroundings: FetchSurroundings;

  constructor(
    policy: FetchPolicy,
    queue: ArenaQueue,
    timeouts: CallTimeouts,
    overrides: Partial<FetchSurroundings> = {},
  ) {
    this.#policy = policy;
    this.#queue = queue;
    this.#timeouts = timeouts;
    this.#surroundings = { ...surroundings, ...overrides };
  }

  /**
   * Rejects with ServiceError, or with the signal's reason.
   * @param traceparent for the configured storage; other hosts do not get it
   */
  async receive(
    link: string,
    limits: FetchLimits,
    signal: AbortSignal,
    holder = nobody,
    traceparent?: string,
  ): Promise<FetchedFile> {
    const target = this.#policy.judge(link);
    const clock = new CallClock(this.#timeouts, timedOut, signal);
    try {
      clock.signal.throwIfAborted();
      const addresses = await acceptableAddresses(target, this.#surroundings, clock.signal, () =>
        clock.progress(),
      );
      const { ca } = this.#surroundings;
      const intakeLimits = { maxBytes: limits.maxFileBytes, tooLarge: limits.fileTooLarge, holder };
      const headers = target.isStorage && traceparent !== undefined ? { traceparent } : {};
      const source = { url: target.url, addresses, ca, headers };
      const region = await download(source, this.#queue, intakeLimits, clock);
      return { region, bytes: region.length, release: () => this.#queue.release(region) };
    } finally {
      clock.stop();
    }
  }
}

export type { FetchSurroundings };
