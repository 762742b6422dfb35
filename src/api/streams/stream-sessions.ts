// SPDX-License-Identifier: Apache-2.0
import { hash, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import type { ResumeMessage } from '../../base/contract/stream.js';
import { ServiceError } from '../../base/errors/service-error.js';
import type { StreamEnding, StreamSession } from './stream-session.js';

/** The longest absence of a lost connection. */
export const RESUME_WITHIN_S = 30;
/** After the end of a stream: clients may take half a minute to notice that their connection is lost. */
const END_KEPT_S = 2 * RESUME_WITHIN_S;
/** Of a kept end, in addition to its messages. */
const ENDED_STREAM_BYTES = 4096;

export interface OpenStream {
  /** Begins with the name of the process. */
  readonly id: string;
  readonly secret: string;
  readonly session: StreamSession;
}

/** A stream that is over. */
export interface EndedStream extends Pick<OpenStream, 'id' | 'secret'> {
  readonly ending: StreamEnding;
}

/** The resources of a stream. */
export interface StreamPlace {
  /** Gives back all but this memory. @throws ServiceError OVERLOADED */
  keepOnly(bytes: number): void;
  release(): void;
}

interface Entry extends OpenStream {
  readonly keyId: string;
  readonly place: StreamPlace;
  readonly beganMs: number;
  heardMs: number;
  awaySinceMs: number | undefined;
}

interface EndedEntry extends EndedStream, Pick<Entry, 'keyId' | 'place'> {
  readonly endedMs: number;
}

export interface SessionsOptions {
  readonly idleTimeoutS: number;
  readonly maxDurationS: number;
  /** Whether a key that began a stream still works. */
  readonly isActive: (keyId: string) => boolean;
  readonly nowMs?: () => number;
}

/** The client did not resume in time. */
export class ClientAway extends ServiceError {}

/**
 * The streams of this process. Others do not know them: the name of the process in the id tells a stream elsewhere from one
 * that is over.
 */
export class StreamSessions {
  readonly #limits: Pick<SessionsOptions, 'idleTimeoutS' | 'maxDurationS'>;
  readonly #isActive: (keyId: string) => boolean;
  readonly #nowMs: () => number;
  readonly #process = randomBytes(4).toString('hex');
  readonly #entries = new Map<string, Entry>();
  readonly #ended = new Map<string, EndedEntry>();
  #whenNone: (() => void) | undefined;

  constructor({ nowMs = () => performance.now(), isActive, ...limits }: SessionsOptions) {
    this.#limits = limits;
    this.#isActive = isActive;
    this.#nowMs = nowMs;
  }

  get open(): number {
    return this.#entries.size;
  }

  get away(): number {
    return [...this.#entries.values()].filter((entry) => entry.awaySinceMs !== undefined).length;
  }

  newId(): string {
    return `${this.#process}.${randomUUID()}`;
  }

  /** @param place given back after its end */
  add(id: string, keyId: string, session: StreamSession, place: StreamPlace): OpenStream {
    const nowMs = this.#nowMs();
    const secret = randomBytes(24).toString('base64url');
    const entry = {
      id,
      secret,
      session,
      keyId,
      place,
      beganMs: nowMs,
      heardMs: nowMs,
      awaySinceMs: undefined,
    };
    this.#entries.set(id, entry);
    return entry;
  }

  /** @param ending kept for a client that comes back */
  end(id: string, ending: StreamEnding | undefined): void {
    const entry = this.#entries.get(id);
    if (entry === undefined) return;
    this.#entries.delete(id);
    if (ending === undefined) entry.place.release();
    else this.#keep(entry, ending);
    if (this.#entries.size === 0) this.#whenNone?.();
  }

  #keep({ id, secret, keyId, place }: Entry, ending: StreamEnding): void {
    const resultBytes = ending.result === undefined ? 0 : JSON.stringify(ending.result).length;
    try {
      place.keepOnly(ENDED_STREAM_BYTES + ending.events.bytes + resultBytes);
    } catch {
      place.release();
      return;
    }
    this.#ended.set(id, { id, secret, keyId, place, ending, endedMs: this.#nowMs() });
  }

  /** @throws ServiceError STREAM_ELSEWHERE, STREAM_UNKNOWN */
  find(
    { session_id: id, secret }: Pick<ResumeMessage, 'session_id' | 'secret'>,
    keyId: string,
  ): OpenStream | EndedStream {
    const entry = this.#entries.get(id) ?? this.#ended.get(id);
    if (entry !== undefined) {
      // Also looked at if the sweep is late.
      const isLate =
        'ending' in entry ? this.#isForgotten(entry) : (this.#awayMs(entry) ?? 0) > RESUME_WITHIN_S * 1000;
      if (!isLate && entry.keyId === keyId && isSame(entry.secret, secret)) return entry;
    } else if (/^[0-9a-f]{8}\./.test(id) && !id.startsWith(`${this.#process}.`)) {
      throw new ServiceError('STREAM_ELSEWHERE');
    }
    throw new ServiceError('STREAM_UNKNOWN');
  }

  heard(id: string): void {
    const entry = this.#entries.get(id);
    if (entry !== undefined) entry.heardMs = this.#nowMs();
  }

  connected(id: string): void {
    const entry = this.#entries.get(id);
    if (entry === undefined) return;
    entry.awaySinceMs = undefined;
    entry.heardMs = this.#nowMs();
  }

  disconnected(id: string): void {
    const entry = this.#entries.get(id);
    if (entry !== undefined && !entry.session.isListenedTo) entry.awaySinceMs = this.#nowMs();
  }

  /** Ends streams that are over their time, or whose key no longer works. Call it every second. */
  sweep(): void {
    const { idleTimeoutS, maxDurationS } = this.#limits;
    const nowMs = this.#nowMs();
    for (const entry of this.#entries.values()) {
      const { session, keyId, beganMs, heardMs } = entry;
      const awayMs = this.#awayMs(entry);
      if (!this.#isActive(keyId)) {
        session.fail(new ServiceError('UNAUTHORIZED'));
      } else if (awayMs !== undefined) {
        if (awayMs > RESUME_WITHIN_S * 1000) session.fail(new ClientAway('STREAM_UNKNOWN'));
      } else if (nowMs - beganMs > maxDurationS * 1000) {
        session.fail(new ServiceError('STREAM_TOO_LONG', { seconds: maxDurationS }));
      } else if (!session.isEnding && nowMs - heardMs > idleTimeoutS * 1000) {
        session.fail(new ServiceError('STREAM_IDLE', { seconds: idleTimeoutS }));
      } else {
        session.settle();
      }
    }
    for (const [id, entry] of this.#ended) {
      if (!this.#isForgotten(entry)) continue;
      this.#ended.delete(id);
      entry.place.release();
    }
  }

  /** Ends all of them. */
  failAll(reason: () => ServiceError): void {
    for (const { session } of [...this.#entries.values()]) session.fail(reason());
  }

  drained(): Promise<void> {
    if (this.#entries.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#whenNone = resolve;
    });
  }

  #isForgotten({ endedMs }: EndedEntry): boolean {
    return this.#nowMs() - endedMs > END_KEPT_S * 1000;
  }

  #awayMs({ awaySinceMs }: Entry): number | undefined {
    return awaySinceMs === undefined ? undefined : this.#nowMs() - awaySinceMs;
  }
}

/** In the same time for any wrong one. */
const isSame = (a: string, b: string): boolean =>
  timingSafeEqual(hash('sha256', a, 'buffer'), hash('sha256', b, 'buffer'));
