// SPDX-License-Identifier: Apache-2.0
import fs from 'node:fs';
import path from 'node:path';
import { replaceFile } from './durable-file.js';
import { formatVersion } from './format-version.js';

/** Both clocks of a machine. Only the wall clock can be set. */
export interface Clocks {
  wallMs(): number;
  monotonicMs(): number;
}

export const systemClocks: Clocks = { wallMs: () => Date.now(), monotonicMs: () => performance.now() };

/** Time for which both clocks must agree, while the server runs, before their day counts. */
const AGREEMENT_MS = 3_600_000;
/** The largest correction of the wall clock meanwhile. */
const TOLERANCE_MS = 60_000;
/** The most that the time between two looks may count: a process that was stopped has not watched. */
const MAX_STEP_MS = 120_000;

interface Content {
  /** UTC days, in the order in which they were lived through. */
  readonly days: readonly string[];
  /** The number of days lived through when a sweep first saw each file with a time limit. */
  readonly seenAt: Readonly<Record<string, number>>;
}

const VERSION = 1;

/**
 * The days that servers of a data folder have lived through. Files with a time limit are removed by counting these, never by a
 * clock: a day counts once, and only after both clocks have agreed for an hour of running. A wall clock that is wrong for less
 * than an hour changes nothing; one that stays wrong for longer adds a day, and another for each day that passes.
 */
export class LivedDays {
  readonly #file: string;
  readonly #clocks: Clocks;
  #content: Content;
  #look: { readonly wallMs: number; readonly monotonicMs: number };
  #agreedMs = 0;
  #driftMs = 0;

  /** @throws Error when the file is damaged or of a newer program */
  constructor(dataDir: string, clocks: Clocks = systemClocks) {
    this.#file = livedDaysFile(dataDir);
    this.#clocks = clocks;
    this.#content = readContent(this.#file) ?? { days: [], seenAt: {} };
    this.#look = { wallMs: clocks.wallMs(), monotonicMs: clocks.monotonicMs() };
  }

  get days(): readonly string[] {
    return this.#content.days;
  }

  /** Call it every minute or so. @returns whether one more day counts from now on */
  watch(): boolean {
    const { wallMs, monotonicMs } = {
      wallMs: this.#clocks.wallMs(),
      monotonicMs: this.#clocks.monotonicMs(),
    };
    const passedMs = monotonicMs - this.#look.monotonicMs;
    this.#driftMs += wallMs - this.#look.wallMs - passedMs;
    this.#look = { wallMs, monotonicMs };
    if (Math.abs(this.#driftMs) > TOLERANCE_MS || passedMs > MAX_STEP_MS) {
      this.#agreedMs = 0;
      this.#driftMs = 0;
      return false;
    }
    this.#agreedMs += passedMs;
    if (this.#agreedMs < AGREEMENT_MS) return false;
    const day = new Date(wallMs).toISOString().slice(0, 10);
    if (this.#content.days.includes(day)) return false;
    this.#agreedMs = 0;
    this.#driftMs = 0;
    this.#write({ ...this.#content, days: [...this.#content.days, day] });
    return true;
  }

  /**
   * Call it when a day has begun to count. Files whose time is over: first seen `keptDays` lived days ago, with as many lived
   * since the end of their own day, which grows while it lasts. New files are noted; missing ones are forgotten.
   * @param files their names, which begin with their days, and the `keptDays` of each; 0 keeps it
   */
  expired(files: ReadonlyMap<string, number>): string[] {
    const { days } = this.#content;
    const now = days.length;
    const seenAt = Object.fromEntries(
      [...files.keys()].map((file) => [file, this.#content.seenAt[file] ?? now]),
    );
    this.#write({ ...this.#content, seenAt });
    return [...files].flatMap(([file, keptDays]) => {
      if (keptDays === 0 || now - (seenAt[file] as number) < keptDays) return [];
      const day = path.basename(file).slice(0, 10);
      return days.slice(-keptDays - 1).includes(day) ? [] : [file];
    });
  }

  /** The number of lived days after the day of this time. */
  daysSince(time: Date): number {
    const day = time.toISOString().slice(0, 10);
    return this.#content.days.filter((lived) => lived > day).length;
  }

  #write(content: Content): void {
    if (JSON.stringify(content) === JSON.stringify(this.#content)) return;
    replaceFile(this.#file, `${JSON.stringify({ version: VERSION, ...content })}\n`);
    this.#content = content;
  }
}

const livedDaysFile = (dataDir: string): string => path.join(dataDir, 'days.json');

function readContent(file: string): Content | undefined {
  try {
    const content = JSON.parse(fs.readFileSync(file, 'utf8')) as Content;
    formatVersion(content, VERSION);
    const { days, seenAt } = content;
    if (!Array.isArray(days) || typeof seenAt !== 'object' || seenAt === null) {
      throw new Error('Expected days and seenAt.');
    }
    return { days, seenAt };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new Error(
      `${file} cannot be used: ${(error as Error).message} Restore it, or delete it: then all retention times start again.`,
      { cause: error },
    );
  }
}

/**
 * The time that a file should carry which is stored now: the wall clock's, unless that is far behind the days that were lived
 * through, by which the file would be old as soon as it is stored.
 */
export function storedTime(dataDir: string, now = new Date()): Date {
  const days = readContent(livedDaysFile(dataDir))?.days ?? [];
  const [, secondNewest] = [...days].sort().reverse();
  if (secondNewest === undefined || now.toISOString().slice(0, 10) >= secondNewest) return now;
  return new Date(`${secondNewest}T00:00:00Z`);
}
