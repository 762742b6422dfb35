// SPDX-License-Identifier: Apache-2.0
import { Worker } from 'node:worker_threads';
import {
  type Database,
  DatabaseError,
  type Row,
  type Transaction,
  type TransactionOptions,
  type Value,
} from './database.js';
import { Followers } from './followers.js';
import { sqliteFailure } from './sqlite-failure.js';
import type {
  SqliteMessage,
  SqliteOrder,
  SqliteResult,
  SqliteTask,
  SqliteThreadData,
} from './sqlite-thread.js';
import { asTransaction, checkStatement, refuseInside } from './statement.js';

export interface SqliteOptions {
  /** The longest wait of a statement for other processes. */
  readonly busyTimeoutMs?: number;
  /** Interval between looks for changes by other processes. */
  readonly pollMs?: number;
}

interface Pending {
  resolve(result: SqliteResult): void;
  reject(error: unknown): void;
}

const BUSY_TIMEOUT_MS = 5000;
const POLL_MS = 250;

/** A SQLite file, which several processes of one host may use at the same time. */
export class SqliteDatabase implements Database {
  readonly dialect = 'sqlite';
  readonly name: string;
  readonly #worker: Worker;
  readonly #pending = new Map<number, Pending>();
  readonly #followers = new Followers(() => this.#watch());
  #lastId = 0;
  /** Statements of one transaction stay together: there is one connection. */
  #turn: Promise<unknown> = Promise.resolve();
  #failure: DatabaseError | undefined;
  #closed: Promise<void> | undefined;

  /** The file is opened, and made if it is missing, by the first statement. */
  constructor(file: string, { busyTimeoutMs = BUSY_TIMEOUT_MS, pollMs = POLL_MS }: SqliteOptions = {}) {
    this.name = file;
    const workerData: SqliteThreadData = { file, busyTimeoutMs, pollMs };
    this.#worker = new Worker(new URL('./sqlite-thread.js', import.meta.url), { workerData });
    this.#worker.on('message', (message: SqliteMessage) => this.#received(message));
    this.#worker.on('error', (error) => this.#ended(error));
    this.#worker.on('exit', () => this.#ended(undefined));
    // A program that has nothing to ask may end.
    this.#worker.unref();
  }

  query<Answer extends Row = Row>(sql: string, parameters: readonly Value[] = []): Promise<Answer[]> {
    return this.#inTurn(() => this.#query<Answer>(sql, parameters));
  }

  /** A file has no connections. */
  queryPromptly<Answer extends Row = Row>(sql: string, parameters: readonly Value[]): Promise<Answer[]> {
    return this.query<Answer>(sql, parameters);
  }

  execute(sql: string, parameters: readonly Value[] = []): Promise<number> {
    return this.#inTurn(() => this.#execute(sql, parameters));
  }

  /** The lock needs no name: SQLite has one writer at a time. */
  transaction<Result>(
    work: (transaction: Transaction) => Promise<Result>,
    _options: TransactionOptions = {},
  ): Promise<Result> {
    return this.#inTurn(async () => {
      const announced = new Set<string>();
      const transaction: Transaction = {
        dialect: this.dialect,
        query: (sql, parameters = []) => this.#query(sql, parameters),
        execute: (sql, parameters = []) => this.#execute(sql, parameters),
        script: async (sql) => void (await this.#ask({ kind: 'script', sql })),
        announce: async (topic) => void announced.add(topic),
      };
      // Begun by reading, it could not write after another transaction.
      await this.#ask({ kind: 'script', sql: 'BEGIN IMMEDIATE' });
      try {
        const result = await asTransaction(this, () => work(transaction));
        await this.#ask({ kind: 'script', sql: 'COMMIT' });
        for (const topic of announced) this.#followers.tell(topic);
        return result;
      } catch (error) {
        // Some errors have ended it already.
        await this.#ask({ kind: 'script', sql: 'ROLLBACK' }).catch(() => {});
        throw error;
      }
    });
  }

  follow(topic: string, onChange: () => void): () => void {
    return this.#followers.add(topic, onChange);
  }

  close(): Promise<void> {
    this.#closed ??= this.#inTurn(async () => {
      await this.#ask({ kind: 'close' }).catch(() => {});
      this.#ended(undefined);
    });
    return this.#closed;
  }

  #watch(): void {
    // Earlier commits are not noticed.
    const watching = this.#inTurn(() => this.#ask({ kind: 'watch' }));
    void watching.then(() => this.#followers.tellAll()).catch(() => {});
  }

  async #query<Answer extends Row>(sql: string, parameters: readonly Value[]): Promise<Answer[]> {
    checkStatement(sql, parameters);
    const { rows } = await this.#ask({ kind: 'query', sql, parameters });
    return rows as Answer[];
  }

  async #execute(sql: string, parameters: readonly Value[]): Promise<number> {
    checkStatement(sql, parameters);
    return (await this.#ask({ kind: 'query', sql, parameters })).changes;
  }

  async #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    refuseInside(this);
    const turn = this.#turn.then(work);
    this.#turn = turn.catch(() => {});
    return turn;
  }

  #ask(order: SqliteOrder): Promise<SqliteResult> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    return new Promise((resolve, reject) => {
      const id = ++this.#lastId;
      if (this.#pending.size === 0) this.#worker.ref();
      this.#pending.set(id, { resolve, reject });
      this.#worker.postMessage({ id, ...order } satisfies SqliteTask);
    });
  }

  #received(message: SqliteMessage): void {
    if ('kind' in message) {
      this.#followers.tellAll();
      return;
    }
    const pending = this.#pending.get(message.id);
    this.#pending.delete(message.id);
    if (this.#pending.size === 0) this.#worker.unref();
    if ('rows' in message) pending?.resolve(message);
    else pending?.reject(sqliteFailure(this.name, message.code, message.message));
  }

  #ended(error: unknown): void {
    const reason = error === undefined ? 'it is closed' : (error as Error).message;
    const message = `The database ${this.name} cannot be used: ${reason}.`;
    this.#failure ??= new DatabaseError('unavailable', 'CLOSED', message, error);
    for (const { reject } of this.#pending.values()) reject(this.#failure);
    this.#pending.clear();
  }
}
