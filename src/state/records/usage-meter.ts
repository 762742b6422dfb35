// SPDX-License-Identifier: Apache-2.0
//
// This room records requests: usage per key and day, and the audit log, whose lines form a chain of
// hashes. It also removes old days.
import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import type { RequestRecord, RequestRecorder } from '../../base/observe/request-record.js';
import { dayOf } from '../data-folder/days.js';
import { makeFolderLater, replaceFileLater } from '../data-folder/durable-file.js';
import { BackgroundRecorder } from './background-recorder.js';
import { USAGE_VERSION, unsentFolder } from './unsent-usage.js';
import type { UsageRow, UsageTable } from './usage-table.js';

export interface UsageMeterOptions {
  readonly flushMs?: number;
  readonly now?: () => Date;
  /** Told when the database does not take counts; they are kept and tried again. */
  readonly onError?: (error: unknown) => void;
}

/** Counts of one day that are added to the database together. */
interface Counting {
  readonly id: string;
  readonly day: string;
  readonly rows: Map<string, UsageRow>;
  /** Whether a file has them as they are. */
  isInFile: boolean;
  hasFile: boolean;
}

/**
 * Counts the usage of each key, per UTC day and route. Every two seconds the counts are added to the database, so that a crash
 * costs only the counts since. While the database does not take them, a file in the data folder has them instead.
 */
export class UsageMeter extends BackgroundRecorder implements RequestRecorder {
  readonly #usageTable: Pick<UsageTable, 'add'>;
  readonly #folder: string;
  readonly #now: () => Date;
  #open = new Map<string, Counting>();
  /** Sent without an answer, so the database may have them: they no longer change. */
  #sent: Counting[] = [];

  constructor(usageTable: Pick<UsageTable, 'add'>, dataDir: string, given: UsageMeterOptions = {}) {
    const { flushMs = 2000, now = () => new Date(), onError = () => {} } = given;
    super({ everyMs: flushMs, onError });
    this.#usageTable = usageTable;
    this.#folder = unsentFolder(dataDir);
    this.#now = now;
  }

  /** Requests without a valid key are nobody's usage. */
  record(record: RequestRecord): void {
    const { keyId, account, route, times = 1, isCounted = false } = record;
    if (keyId === undefined || account === undefined || isCounted) return;
    const row = this.#rowOf(keyId, account, route);
    row.requests += times;
    if (record.status >= 400) row.errors += times;
    row.audioS += record.audioS ?? 0;
    row.windows += record.scoredWindows ?? 0;
    row.bytes += record.bodyBytes ?? 0;
  }

  /** A row without counts, so that the key does not look unused: unmetered requests are no usage. */
  noteUse({ keyId, account, route }: RequestRecord): void {
    if (keyId !== undefined && account !== undefined) this.#rowOf(keyId, account, route);
  }

  #rowOf(keyId: string, account: string, route: string): UsageRow {
    const counting = this.#counting(dayOf(this.#now()));
    const name = `${keyId} ${account} ${route}`;
    let row = counting.rows.get(name);
    if (row === undefined) {
      row = { keyId, account, route, requests: 0, errors: 0, audioS: 0, windows: 0, bytes: 0 };
      counting.rows.set(name, row);
    }
    counting.isInFile = false;
    return row;
  }

  #counting(day: string): Counting {
    let counting = this.#open.get(day);
    if (counting === undefined) {
      const id = `${day}.${randomUUID()}`;
      counting = { id, day, rows: new Map(), isInFile: false, hasFile: false };
      this.#open.set(day, counting);
    }
    return counting;
  }

  override async close(): Promise<void> {
    // An attempt on a dead connection may outlast the stop. Should it succeed, the id keeps the file from counting twice.
    await this.#keepInFiles().catch(() => {});
    await super.close();
  }

  protected async write(): Promise<void> {
    try {
      await this.#send();
      this.#sent = [...this.#open.values()];
      this.#open = new Map();
      await this.#send();
    } catch (error) {
      await this.#keepInFiles();
      throw error;
    }
  }

  async #send(): Promise<void> {
    for (let [counting] = this.#sent; counting !== undefined; [counting] = this.#sent) {
      const { id, day, rows } = counting;
      await this.#usageTable.add({ id, day, rows: [...rows.values()] });
      this.#sent.shift();
      if (counting.hasFile) fs.rmSync(this.#fileOf(counting), { force: true });
    }
  }

  async #keepInFiles(): Promise<void> {
    const left = [...this.#sent, ...this.#open.values()].filter(({ isInFile }) => !isInFile);
    if (left.length > 0) await makeFolderLater(this.#folder);
    for (const counting of left) {
      const text = JSON.stringify({ version: USAGE_VERSION, rows: [...counting.rows.values()] });
      // Usage that is counted while this is being written is for the next time.
      counting.isInFile = true;
      counting.hasFile = true;
      try {
        await replaceFileLater(this.#fileOf(counting), `${text}\n`);
      } catch (error) {
        counting.isInFile = false;
        throw error;
      }
    }
  }

  #fileOf({ id }: Counting): string {
    return path.join(this.#folder, `${id}.json`);
  }
}
