// SPDX-License-Identifier: Apache-2.0
import { statfs } from 'node:fs/promises';
import type { Database, Row, Transaction, TransactionOptions, Value } from './database.js';
import { type WriteProblem, writeProblemOf } from './write-problem.js';

export interface WatchOptions {
  readonly dataDir: string;
  /** Told when a problem begins, and with undefined when it is over. */
  readonly onChange: (problem: WriteProblem | undefined) => void;
  readonly lookMs?: number;
}

const LOOK_MS = 2000;
/** Less counts as nothing: SQLite writes whole pages, each of them twice. */
const MIN_FREE_BYTES = 1 << 20;
const TOPIC = 'writable';

/** Knows whether its database, and the data folder, can be written: if not, they must not be sent changes. */
export class WatchedDatabase implements Database {
  readonly #database: Database;
  readonly #options: WatchOptions;
  readonly #timer: NodeJS.Timeout;
  #problem: WriteProblem | undefined;
  #isLooking = false;

  constructor(database: Database, options: WatchOptions) {
    this.#database = database;
    this.#options = options;
    this.#timer = setInterval(() => void this.#look(), options.lookMs ?? LOOK_MS).unref();
  }

  get problem(): WriteProblem | undefined {
    return this.#problem;
  }

  /** A failure elsewhere for the same reason, such as a line of the audit. */
  note(error: unknown): void {
    const problem = writeProblemOf(error);
    if (problem !== undefined) this.#set(problem);
  }

  get dialect() {
    return this.#database.dialect;
  }

  get name(): string {
    return this.#database.name;
  }

  query<Answer extends Row = Row>(sql: string, parameters?: readonly Value[]): Promise<Answer[]> {
    return this.#noted(this.#database.query<Answer>(sql, parameters));
  }

  queryPromptly<Answer extends Row = Row>(
    ...asked: Parameters<Database['queryPromptly']>
  ): Promise<Answer[]> {
    return this.#noted(this.#database.queryPromptly<Answer>(...asked));
  }

  execute(sql: string, parameters?: readonly Value[]): Promise<number> {
    return this.#noted(this.#database.execute(sql, parameters));
  }

  transaction<Result>(
    work: (transaction: Transaction) => Promise<Result>,
    options?: TransactionOptions,
  ): Promise<Result> {
    return this.#noted(this.#database.transaction(work, options));
  }

  follow(topic: string, onChange: () => void): () => void {
    return this.#database.follow(topic, onChange);
  }

  close(): Promise<void> {
    clearInterval(this.#timer);
    return this.#database.close();
  }

  async #noted<Result>(work: Promise<Result>): Promise<Result> {
    try {
      return await work;
    } catch (error) {
      this.note(error);
      throw error;
    }
  }

  #set(problem: WriteProblem | undefined): void {
    if (problem === this.#problem) return;
    this.#problem = problem;
    this.#options.onChange(problem);
  }

  /** Finds out before a client does, and when it is over. */
  async #look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      const { bavail, bsize } = await statfs(this.#options.dataDir);
      if (bavail * bsize < MIN_FREE_BYTES) this.#set('full');
      else if (this.#problem !== undefined) {
        await this.#write();
        this.#set(undefined);
      } else if (this.dialect === 'postgres') await this.#askWhetherItOnlyReads();
    } catch (error) {
      // One that does not answer is another matter, which KeyCache knows of.
      this.note(error);
    } finally {
      this.#isLooking = false;
    }
  }

  async #write(): Promise<void> {
    await this.#database.execute(
      `INSERT INTO revisions (topic, revision) VALUES ($1, 1)
       ON CONFLICT (topic) DO UPDATE SET revision = revisions.revision + 1`,
      [TOPIC],
    );
  }

  /** As after a failover, to a host that only follows. */
  async #askWhetherItOnlyReads(): Promise<void> {
    const [row] = await this.#database.query<{ state: string }>(
      "SELECT current_setting('transaction_read_only') AS state",
    );
    if (row?.state === 'on') this.#set('read_only');
  }
}
