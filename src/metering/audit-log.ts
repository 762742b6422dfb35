// SPDX-License-Identifier: Apache-2.0
import fs from 'node:fs/promises';
import path from 'node:path';
import { roundedTimesMs } from '../observe/request-log.js';
import type { RequestRecord, RequestRecorder } from '../observe/request-record.js';
import { BackgroundWriter } from './background-writer.js';
import { dayOf, removeOldDays } from './days.js';

export interface AuditLogOptions {
  /** 0 keeps all. */
  readonly keptDays: number;
  readonly flushMs?: number;
  /** Lines that wait for a disk that does not take them; what comes then is lost. */
  readonly maxWaitingBytes?: number;
  /** Lines per second about requests without a valid key, so that strangers cannot fill the disk. */
  readonly maxStrangersPerS?: number;
  readonly now?: () => Date;
  /** Told when lines could not be written; they are kept and tried again. */
  readonly onError?: (error: unknown) => void;
  /** Told of each line that is not written. */
  readonly onLost?: () => void;
}

/** The lines of one day that wait to be written. */
interface Batch {
  readonly day: string;
  text: string;
}

/**
 * One JSON line per request to the API, in `<dataDir>/audit/<UTC day>.jsonl`. Lines are collected and appended by
 * another thread. Each write is a number of whole lines at the end of the file, so that several servers may share it.
 */
export class AuditLog implements RequestRecorder {
  readonly dir: string;
  readonly #options: Required<AuditLogOptions>;
  readonly #writer: BackgroundWriter;
  #waiting: Batch[] = [];
  #waitingBytes = 0;
  #strangers = { second: 0, lines: 0 };
  #cleanedDay = '';

  constructor(dataDir: string, options: AuditLogOptions) {
    this.dir = path.join(dataDir, 'audit');
    this.#options = {
      flushMs: 500,
      maxWaitingBytes: 16 << 20,
      maxStrangersPerS: 100,
      now: () => new Date(),
      onError: () => {},
      onLost: () => {},
      ...options,
    };
    const { flushMs: everyMs, onError } = this.#options;
    this.#writer = new BackgroundWriter(() => this.#write(), { everyMs, onError });
  }

  record(record: RequestRecord): void {
    const now = this.#options.now();
    if (
      (record.keyId === undefined && !this.#mayNoteStranger(now)) ||
      this.#waitingBytes > this.#options.maxWaitingBytes
    ) {
      this.#options.onLost();
      return;
    }
    const day = dayOf(now);
    const line = `${JSON.stringify(auditLine(record, now))}\n`;
    this.#waitingBytes += line.length;
    const last = this.#waiting.at(-1);
    if (last?.day === day) last.text += line;
    else this.#waiting.push({ day, text: line });
  }

  /** Resolves when what was recorded so far is written, or has failed to be. */
  flush(): Promise<void> {
    return this.#writer.flush();
  }

  close(): Promise<void> {
    return this.#writer.close();
  }

  #mayNoteStranger(now: Date): boolean {
    const second = Math.floor(now.getTime() / 1000);
    if (second !== this.#strangers.second) this.#strangers = { second, lines: 0 };
    return ++this.#strangers.lines <= this.#options.maxStrangersPerS;
  }

  async #write(): Promise<void> {
    for (let batch = this.#waiting.shift(); batch !== undefined; batch = this.#waiting.shift()) {
      await this.#append(batch);
    }
  }

  async #append(batch: Batch): Promise<void> {
    const { day, text } = batch;
    try {
      if (day !== this.#cleanedDay) {
        await fs.mkdir(this.dir, { recursive: true, mode: 0o700 });
        await removeOldDays(this.dir, this.#options.keptDays, this.#options.now());
        this.#cleanedDay = day;
      }
      await appendLines(path.join(this.dir, `${day}.jsonl`), text);
      this.#waitingBytes -= text.length;
    } catch (error) {
      this.#waiting.unshift(batch);
      throw error;
    }
  }
}

/** What an audit line says, by name, so that nothing gets in that a request brought along: no names, links or vectors. */
function auditLine(record: RequestRecord, time: Date): Record<string, unknown> {
  const { correlationId, clientAddress, keyId, account, method, route, status, errorKey } = record;
  const { bodyBytes, audioS, scoredWindows, skippedS, model } = record;
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
    timesMs: roundedTimesMs(record),
  };
}

async function appendLines(file: string, lines: string): Promise<void> {
  const handle = await fs.open(file, 'a+', 0o600);
  try {
    // A crash or a full disk may have left half a line.
    const { size } = await handle.stat();
    const last = Buffer.alloc(1);
    if (size > 0) await handle.read(last, 0, 1, size - 1);
    const isTorn = size > 0 && last.toString() !== '\n';
    await handle.appendFile(isTorn ? `\n${lines}` : lines);
  } finally {
    await handle.close();
  }
}
