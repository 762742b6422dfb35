// SPDX-License-Identifier: Apache-2.0
import type { CloseReason } from '../../base/observe/close-reason.js';
import { peerOf } from './peer-connections.js';

/** The shortest time between two questions to the system about connections, and its least multiple of the last one's. */
const RECOUNT_MS = 200;
const PAUSE_PER_COUNT = 9;
/** The most addresses to remember between two counts. */
const MAX_ADDRESSES = 10_000;

export interface ConnectionLimitOptions {
  readonly max: number;
  /** 0 sets no limit. */
  readonly maxPerAddress: number;
  /** Addresses shared by many clients, such as a proxy's. */
  readonly isExempt: (address: ArrayBuffer) => boolean;
  /** Open connections by peer, as `peerOf` names it; undefined if unknown. */
  readonly countByPeer: () => Promise<ReadonlyMap<string, number> | undefined>;
  readonly onClose: (reason: CloseReason) => void;
  readonly nowMs?: () => number;
}

/**
 * Decides which connections to keep. The number per address comes from the last count plus the connections opened since.
 * It is never too low, because closed ones drop out only at the next count. No address has more than the total, which is
 * known exactly, so nothing is counted and nobody refused before there are many.
 */
export class Connections {
  readonly #options: ConnectionLimitOptions;
  readonly #nowMs: () => number;
  #open = 0;
  #counted: ReadonlyMap<string, number> = new Map();
  #opened = new Map<string, number>();
  #isCounting = false;
  #nextCountMs = Number.NEGATIVE_INFINITY;

  constructor(options: ConnectionLimitOptions) {
    this.#options = options;
    this.#nowMs = options.nowMs ?? (() => performance.now());
  }

  get open(): number {
    return this.#open;
  }

  /** Counts a new connection; false if it is one too many. */
  readonly admits = (address: ArrayBuffer): boolean => {
    this.#open++;
    if (this.#open > this.#options.max) {
      this.#options.onClose('connections');
      return false;
    }
    if (this.#options.maxPerAddress === 0 || this.#admitsPeer(address)) return true;
    this.#options.onClose('address');
    return false;
  };

  readonly ended = (): void => {
    this.#open--;
  };

  #admitsPeer(address: ArrayBuffer): boolean {
    const { maxPerAddress, isExempt } = this.#options;
    const peer = peerOf(new Uint8Array(address));
    const counted = this.#counted.get(peer) ?? 0;
    const opened = (this.#opened.get(peer) ?? 0) + 1;
    if (this.#opened.size >= MAX_ADDRESSES) void this.#recount();
    if (this.#open * 2 > maxPerAddress && opened * 2 > maxPerAddress - counted) {
      if (isExempt(address)) return true;
      void this.#recount();
      if (Math.min(counted + opened, this.#open) > maxPerAddress) return false;
    }
    this.#opened.set(peer, opened);
    return true;
  }

  async #recount(): Promise<void> {
    const beganMs = this.#nowMs();
    if (this.#isCounting || beganMs < this.#nextCountMs) return;
    this.#isCounting = true;
    const before = this.#opened;
    this.#opened = new Map(before);
    const counted = await this.#options.countByPeer();
    this.#isCounting = false;
    const nowMs = this.#nowMs();
    this.#nextCountMs = nowMs + Math.max(RECOUNT_MS, PAUSE_PER_COUNT * (nowMs - beganMs));
    // Without a count, nobody is limited.
    this.#counted = counted ?? new Map();
    for (const [peer, opened] of before) {
      const since = (this.#opened.get(peer) ?? 0) - opened;
      if (since > 0) this.#opened.set(peer, since);
      else this.#opened.delete(peer);
    }
  }
}
