// SPDX-License-Identifier: Apache-2.0
import { isRefusal } from '../../base/observe/refusal-lines.js';
import { roundedTimesMs } from '../../base/observe/request-log.js';
import type { RequestRecord, RequestRecorder } from '../../base/observe/request-record.js';
import { dayOf } from '../data-folder/days.js';
import { type AuditEvent, appendToChain, auditDir } from './audit-chain.js';
import { BackgroundRecorder } from './background-recorder.js';

export interface AuditLogOptions {
  readonly flushMs?: number;
  /** Lines that wait for a disk that does not take them; further lines are lost. */
  readonly maxWaitingBytes?: number;
  /** Lines per second about requests without a valid key, so that strangers cannot fill the disk. */
  readonly maxStrangersPerS?: number;
  /** The same about refused requests of one key, which may also be any number. */
  readonly maxRefusalsPerS?: number;
  readonly now?: () => Date;
  /** Told when lines could not be written; they are kept and tried again. */
  readonly onError?: (error: unknown) => void;
  /** Told of lines that are not written. */
  readonly onLost?: (lines: number) => void;
}

/** A line that waits for its writing. */
interface Line {
  readonly day: string;
  readonly json: string;
}

const defaults: Required<AuditLogOptions> = {
  flushMs: 500,
  maxWaitingBytes: 16 << 20,
  maxStrangersPerS: 100,
  maxRefusalsPerS: 10,
  now: () => new Date(),
  onError: () => {},
  onLost: () => {},
};

interface LostLines {
  ofStrangers: number;
  refusals: number;
  noRoom: number;
}

const nothingLost: LostLines = { ofStrangers: 0, refusals: 0, noRoom: 0 };

/** More would keep the thread from other work, which hashes them. */
const LINES_PER_APPEND = 500;

/**
 * One JSON line per request to the API, and one per event, in `<dataDir>/audit/<UTC day>.jsonl`; together they are a chain:
 * see audit-chain.ts. Lines are collected and appended by another thread. Several servers may share the folder.
 */
export class AuditLog extends BackgroundRecorder implements RequestRecorder {
  readonly dir: string;
  readonly #options: Required<AuditLogOptions>;
  #waiting: Line[] = [];
  #waitingBytes = 0;
  /** Lines of this second about strangers, and about refusals of each key. */
  #capped = { second: 0, strangers: 0, refusals: new Map<string, number>() };
  #lost = { ...nothingLost };

  constructor(dataDir: string, given: AuditLogOptions = {}) {
    const options = { ...defaults, ...given };
    super({ everyMs: options.flushMs, onError: options.onError });
    this.dir = auditDir(dataDir);
    this.#options = options;
  }

  record(record: RequestRecord): void {
    const now = this.#options.now();
    const lost = this.#whyLost(record, now);
    if (lost !== undefined) {
      const { times = 1 } = record;
      this.#lost[lost] += times;
      this.#options.onLost(times);
      return;
    }
    this.#add(auditLine(record, now), now);
  }

  /** A line about something else than a request. */
  note(event: AuditEvent): void {
    const now = this.#options.now();
    this.#add({ time: now.toISOString(), ...event }, now);
  }

  /** Undefined for a request that gets its line. The one place for caps. */
  #whyLost(record: RequestRecord, now: Date): keyof LostLines | undefined {
    const { maxStrangersPerS, maxRefusalsPerS, maxWaitingBytes } = this.#options;
    const { keyId, times } = record;
    if (times !== undefined) return 'refusals';
    const second = Math.floor(now.getTime() / 1000);
    if (second !== this.#capped.second) this.#capped = { second, strangers: 0, refusals: new Map() };
    if (keyId === undefined) {
      if (++this.#capped.strangers > maxStrangersPerS) return 'ofStrangers';
    } else if (isRefusal(record)) {
      const lines = (this.#capped.refusals.get(keyId) ?? 0) + 1;
      this.#capped.refusals.set(keyId, lines);
      if (lines > maxRefusalsPerS) return 'refusals';
    }
    return this.#waitingBytes > maxWaitingBytes ? 'noRoom' : undefined;
  }

  #add(content: Readonly<Record<string, unknown>>, now: Date): void {
    const json = JSON.stringify(content);
    this.#waitingBytes += json.length;
    this.#waiting.push({ day: dayOf(now), json });
  }

  protected async write(): Promise<void> {
    this.#noteLost();
    // Lines that come while these are written are for the next time: under load, lines would otherwise be appended one by one
    // without end, each with all that makes it outlive a power failure.
    for (let left = this.#waiting.length; left > 0; ) {
      const day = this.#waiting[0]?.day as string;
      const end = this.#waiting.findIndex((line) => line.day !== day);
      const count = Math.min(end < 0 ? left : end, left, LINES_PER_APPEND);
      const lines = this.#waiting.slice(0, count).map(({ json }) => json);
      left -= count;
      await appendToChain(this.dir, lines, { day, time: this.#options.now() });
      this.#waiting.splice(0, count);
      for (const json of lines) this.#waitingBytes -= json.length;
    }
  }

  /** That lines are missing is itself a line. */
  #noteLost(): void {
    const lost = this.#lost;
    if (lost.ofStrangers + lost.refusals + lost.noRoom === 0) return;
    // While the disk takes nothing, such lines would pile up themselves.
    if (this.#waitingBytes > this.#options.maxWaitingBytes) return;
    this.#lost = { ...nothingLost };
    this.note({ event: 'lines_lost', ...lost });
  }
}

/** The fields of an audit line, by name, so that no text of a request gets in: no names, links or vectors. */
function auditLine(record: RequestRecord, time: Date): Record<string, unknown> {
  const { correlationId, clientAddress, keyId, account, method, route, status, errorKey } = record;
  const { bodyBytes, audioS, scoredWindows, skippedS, model, modelIds } = record;
  return {
    time: time.toISOString(),
    correlationId,
    clientAddress,
    keyId,
    account,
    method,
    route,
    status,
    errorKey,
    bodyBytes,
    audioS,
    scoredWindows,
    skippedS,
    model,
    modelIds,
    timesMs: roundedTimesMs(record),
  };
}
