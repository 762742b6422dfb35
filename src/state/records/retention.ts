// SPDX-License-Identifier: Apache-2.0
import fs from 'node:fs';
import path from 'node:path';
import { dayOfFile } from '../data-folder/days.js';
import { namesIn } from '../data-folder/durable-file.js';
import { type Clocks, LivedDays, systemClocks } from '../data-folder/lived-days.js';
import { type AuditEvent, auditDir, chainFiles, readHead, withChain } from './audit-chain.js';

/** Records in the database, by UTC days. */
export interface ByDay {
  days(): Promise<string[]>;
  removeDays(days: readonly string[]): Promise<void>;
}

export interface RetentionOptions {
  /** 0 keeps all. */
  readonly auditDays: number;
  /** 0 keeps all. */
  readonly usageDays: number;
  readonly usage: ByDay;
  /** 0 keeps all. */
  readonly jobDays: number;
  /** Jobs that are over. */
  readonly jobs: ByDay;
  /** Removes stored objects whose time is over; absent where they are kept. */
  readonly sweepObjects?: (
    daysSince: (stored: Date) => number,
  ) => Promise<{ objects: number; bytes: number; failures: readonly unknown[] }>;
  /** Told what was removed. Files of the audit are only removed once it has resolved. */
  readonly onRemoved: (event: AuditEvent) => unknown;
  readonly onError: (error: unknown) => void;
  readonly clocks?: Clocks;
}

const LOOK_MS = 60_000;

/**
 * Removes data whose time is over. For one process per data folder: the one that owns it. Looks once a minute, and removes once
 * per day that was lived through: see lived-days.ts.
 */
export class Retention {
  readonly #dataDir: string;
  readonly #options: RetentionOptions;
  readonly #lived: LivedDays;
  readonly #timer: NodeJS.Timeout;
  #looking: Promise<void> = Promise.resolve();
  #isDue = false;
  #isFailing = false;

  /** @throws Error when the count of days cannot be read */
  constructor(dataDir: string, options: RetentionOptions) {
    this.#dataDir = dataDir;
    this.#options = options;
    this.#lived = new LivedDays(dataDir, options.clocks ?? systemClocks);
    this.#timer = setInterval(() => void this.look(), LOOK_MS);
    this.#timer.unref();
  }

  /** The timer's work. Resolves when it is done. */
  look(): Promise<void> {
    this.#looking = this.#looking.then(async () => {
      try {
        if (this.#lived.watch()) this.#isDue = true;
        if (this.#isDue) await this.#sweep();
        this.#isDue = false;
        this.#isFailing = false;
      } catch (error) {
        if (!this.#isFailing) this.#options.onError(error);
        this.#isFailing = true;
      }
    });
    return this.#looking;
  }

  close(): Promise<void> {
    clearInterval(this.#timer);
    return this.#looking;
  }

  async #sweep(): Promise<void> {
    const kinds = await this.#daysByKind();
    const days = kinds.flatMap(({ prefix, keptDays, present }) =>
      present.map((day): [string, number] => [prefix + day, keptDays]),
    );
    const expired = this.#lived.expired(new Map([...this.#auditFiles(), ...days]));
    const failures: unknown[] = [];
    // A kind that cannot be removed must not keep the others.
    const tryTo = (work: () => Promise<void>) => work().catch((error) => void failures.push(error));
    for (const { prefix, event, records } of kinds) {
      const over = expired.filter((name) => name.startsWith(prefix)).map((name) => name.slice(prefix.length));
      await tryTo(async () => {
        await records.removeDays(over);
        if (over.length > 0) await this.#options.onRemoved({ event, days: over });
      });
    }
    const ofAudit = expired.filter((file) => file.startsWith('audit/')).map((file) => path.basename(file));
    if (ofAudit.length > 0) await tryTo(() => this.#removeAudit(ofAudit));
    await tryTo(async () => {
      const swept = await this.#options.sweepObjects?.((stored) => this.#lived.daysSince(stored));
      if (swept === undefined) return;
      const { objects, bytes } = swept;
      if (objects > 0) await this.#options.onRemoved({ event: 'objects_expired', objects, bytes });
      // Not tried again before the next day: each try looks at all files.
      if (swept.failures.length > 0)
        this.#options.onError(new AggregateError(swept.failures, `${swept.failures[0]}`));
    });
    if (failures.length > 0) throw new AggregateError(failures, `${failures[0]}`);
  }

  /** Days in the database. The prefixes tell the kinds apart among the names of everything with a time limit. */
  async #daysByKind() {
    const { usage, usageDays, jobs, jobDays } = this.#options;
    const kinds = [
      { prefix: 'usage/', event: 'usage_removed', keptDays: usageDays, records: usage },
      { prefix: 'jobs/', event: 'jobs_removed', keptDays: jobDays, records: jobs },
    ];
    return Promise.all(kinds.map(async (kind) => ({ ...kind, present: await kind.records.days() })));
  }

  /** Only from the front of the chain, and never the line it goes on from. */
  async #removeAudit(expired: readonly string[]): Promise<void> {
    const dir = auditDir(this.#dataDir);
    const { removed, throughSeq } = await withChain(dir, async () => {
      const head = await readHead(dir);
      const chained = await chainFiles(dir);
      const names = new Set(chained.map(({ file }) => file));
      const removed = expired.filter((file) => !names.has(file));
      let throughSeq = 0;
      for (const [i, { file }] of chained.entries()) {
        const next = chained[i + 1];
        if (next === undefined || file === head?.file || !expired.includes(file)) break;
        removed.push(file);
        throughSeq = next.firstSeq - 1;
      }
      return { removed, throughSeq };
    });
    if (removed.length === 0) return;
    // First the line: if a crash came between, missing files would look like tampering.
    await this.#options.onRemoved({ event: 'files_removed', files: removed, throughSeq });
    await withChain(dir, async () => {
      for (const file of removed) fs.rmSync(path.join(dir, file), { force: true });
    });
  }

  /** With their days. */
  #auditFiles(): Map<string, number> {
    const names = namesIn(auditDir(this.#dataDir)).filter((name) => dayOfFile(name) !== undefined);
    return new Map(names.map((name) => [`audit/${name}`, this.#options.auditDays]));
  }
}
