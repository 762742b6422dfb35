// SPDX-License-Identifier: Apache-2.0
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import type { RequestRecord } from '../../base/observe/request-record.js';
import { dayOf } from '../data-folder/days.js';
import { makeFolderLater, replaceFileLater } from '../data-folder/durable-file.js';
import { BackgroundRecorder } from './background-recorder.js';

/** What one key did on one route on one UTC day. */
export interface UsageRow {
  readonly keyId: string;
  readonly account: string;
  /** The route's path. */
  readonly route: string;
  requests: number;
  /** Of these, those that were not answered with success: refusals, failures, clients that went away. */
  errors: number;
  audioS: number;
  windows: number;
  /** Of request bodies that arrived in full. */
  bytes: number;
}

export interface UsageMeterOptions {
  readonly flushMs?: number;
  readonly now?: () => Date;
  /** Told when counts could not be written; they are kept and tried again. */
  readonly onError?: (error: unknown) => void;
}

/** What this server counted on one day. */
interface Day {
  /** Its own for every server that ever ran, so that none overwrites what another counted. */
  readonly fileName: string;
  readonly rows: Map<string, UsageRow>;
  isWritten: boolean;
}

/** Of the files. */
export const USAGE_VERSION = 1;

export const usageDir = (dataDir: string): string => path.join(dataDir, 'usage');

/**
 * Counts what each key uses, per UTC day and route. Every two seconds the day's counts replace its file
 * `<dataDir>/usage/<day>.<random>.json` in one step, so that a crash costs what was counted since, and no more.
 */
export class UsageMeter extends BackgroundRecorder {
  readonly dir: string;
  readonly #options: Required<UsageMeterOptions>;
  readonly #days = new Map<string, Day>();

  constructor(dataDir: string, given: UsageMeterOptions = {}) {
    const options = { flushMs: 2000, now: () => new Date(), onError: () => {}, ...given };
    super({ everyMs: options.flushMs, onError: options.onError });
    this.dir = usageDir(dataDir);
    this.#options = options;
  }

  /** Requests without a valid key are nobody's usage. */
  record(record: RequestRecord): void {
    const { keyId, account, route } = record;
    if (keyId === undefined || account === undefined) return;
    const day = this.#day(dayOf(this.#options.now()));
    const name = `${keyId} ${route}`;
    let row = day.rows.get(name);
    if (row === undefined) {
      row = { keyId, account, route, requests: 0, errors: 0, audioS: 0, windows: 0, bytes: 0 };
      day.rows.set(name, row);
    }
    row.requests++;
    if (record.status >= 400) row.errors++;
    row.audioS += record.audioS ?? 0;
    row.windows += record.scoredWindows ?? 0;
    row.bytes += record.bodyBytes ?? 0;
    day.isWritten = false;
  }

  #day(name: string): Day {
    let day = this.#days.get(name);
    if (day === undefined) {
      day = { fileName: `${name}.${randomUUID()}.json`, rows: new Map(), isWritten: true };
      this.#days.set(name, day);
    }
    return day;
  }

  protected async write(): Promise<void> {
    const today = dayOf(this.#options.now());
    for (const [name, day] of this.#days) {
      if (!day.isWritten) await this.#replaceFile(day);
      if (name !== today && day.isWritten) this.#days.delete(name);
    }
  }

  async #replaceFile(day: Day): Promise<void> {
    const file = path.join(this.dir, day.fileName);
    const text = JSON.stringify({ version: USAGE_VERSION, rows: [...day.rows.values()] });
    // What is counted while this is being written is for the next time.
    day.isWritten = true;
    try {
      await makeFolderLater(this.dir);
      await replaceFileLater(file, `${text}\n`);
    } catch (error) {
      day.isWritten = false;
      throw error;
    }
  }
}
