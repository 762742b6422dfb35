// SPDX-License-Identifier: Apache-2.0
import type { ByteSource } from '../../base/byte-source/byte-source.js';
import { type CallTimeouts, openedInTime, orAborted } from '../../base/outgoing/call-clock.js';
import type { FileStore } from '../../state/storage/open-storage.js';
import { type FetchSurroundings, surroundings } from './acceptable-addresses.js';
import type { FetchPolicy } from './fetch-policy.js';
import { LinkSource } from './link-source.js';

/** Opens recordings to be read in ranges, wherever they lie. The caller closes them. */
export class RecordingSources {
  readonly #files: Pick<FileStore, 'storage'>;
  readonly #policy: FetchPolicy;
  readonly #timeouts: CallTimeouts;
  readonly #surroundings: FetchSurroundings;

  constructor(
    files: Pick<FileStore, 'storage'>,
    policy: FetchPolicy,
    timeouts: CallTimeouts,
    overrides: Partial<FetchSurroundings> = {},
  ) {
    this.#files = files;
    this.#policy = policy;
    this.#timeouts = timeouts;
    this.#surroundings = { ...surroundings, ...overrides };
  }

  /**
   * An object of the configured storage, by its whole name.
   * @throws ServiceError OBJECT_NOT_FOUND, STORAGE_UNAVAILABLE, STORAGE_FAILED, or the signal's reason
   */
  ofObject(name: string, signal: AbortSignal): Promise<ByteSource> {
    return openedInTime(signal, this.#files.storage.openSource(name));
  }

  /**
   * The file behind a `presigned_url`. Links of the storage's own are checked here and read from it: its public name may not be
   * reachable from this host.
   * @throws ServiceError as PresignedFetcher does, FETCH_NO_RANGES, the storage's refusal of links, or the signal's reason
   */
  async ofLink(link: string, account: string, signal: AbortSignal): Promise<ByteSource> {
    const target = { ...this.#policy.judge(link), account };
    const { storage } = this.#files;
    const name = target.isStorage ? await orAborted(signal, storage.nameBehind(target.url)) : undefined;
    if (name !== undefined) return this.ofObject(name, signal);
    return LinkSource.open(target, { surroundings: this.#surroundings, timeouts: this.#timeouts }, signal);
  }
}
