// SPDX-License-Identifier: Apache-2.0
//
// This room runs statements on SQLite or PostgreSQL behind one interface, with migrations, and tells
// followers about changes.

/** A parameter of a statement, or a column of a row. Moments are milliseconds since 1970, truth values 0 and 1. */
export type Value = string | number | Uint8Array | null;

export type Row = Readonly<Record<string, Value>>;

export type Dialect = 'sqlite' | 'postgres';

/** Runs statements. Parameters are `$1`, `$2`, ... in both dialects. */
export interface Queries {
  readonly dialect: Dialect;
  /** The rows that it answers. @throws DatabaseError */
  query<Answer extends Row = Row>(sql: string, parameters?: readonly Value[]): Promise<Answer[]>;
  /** The number of rows that it changed. @throws DatabaseError */
  execute(sql: string, parameters?: readonly Value[]): Promise<number>;
}

export interface Transaction extends Queries {
  /** Several statements with semicolons, without parameters. */
  script(sql: string): Promise<void>;
  /** Has all followers of this topic look again, on every host, once the transaction is committed. */
  announce(topic: string): Promise<void>;
}

export interface TransactionOptions {
  /** One transaction with this name at a time, over all hosts. */
  readonly lock?: string;
  /** Its statements may take as long as they like. */
  readonly isLong?: boolean;
}

/** The state that outlives a process. */
export interface Database extends Queries {
  /**
   * Like `query`, for what is asked all the time, is of no use later, and may be done twice. No connection that is dead
   * without a word holds it up: after this time it is asked once more, on a new one.
   */
  queryPromptly<Answer extends Row = Row>(
    sql: string,
    parameters: readonly Value[],
    timeoutMs: number,
  ): Promise<Answer[]>;
  /** For people: the file, or host and name, never a password. */
  readonly name: string;
  /**
   * Does `work` as a whole or not at all. It must use the transaction that it is given, not the database, and do nothing slow
   * besides: SQLite has one transaction at a time.
   * @throws the errors of `work`, or DatabaseError. If that is of the kind `unavailable`, the work may have been committed
   */
  transaction<Result>(
    work: (transaction: Transaction) => Promise<Result>,
    options?: TransactionOptions,
  ): Promise<Result>;
  /**
   * Calls `onChange` soon after a commit that announced the topic, on any host, and whenever one may have been missed. It may
   * come too often, and too late if the network is cut: look important changes up now and then.
   * @returns ends it
   */
  follow(topic: string, onChange: () => void): () => void;
  /** Waits for work that has begun. */
  close(): Promise<void>;
}

/**
 * `unavailable`: it cannot be reached, or not in time; `busy`: others hold a lock that this needs; `constraint`: a rule of a
 * table, such as a key that exists already; `full`: no room on its disk; `damaged`: its file is no longer a database; `faulty`:
 * everything else.
 */
export type FailureKind = 'unavailable' | 'busy' | 'constraint' | 'full' | 'damaged' | 'faulty';

export class DatabaseError extends Error {
  override readonly name = 'DatabaseError';
  readonly kind: FailureKind;
  /** The database's own, such as SQLITE_FULL or 53100. */
  readonly code: string;

  constructor(kind: FailureKind, code: string, message: string, cause?: unknown) {
    super(message, { cause });
    this.kind = kind;
    this.code = code;
  }
}

/** Whether it answers, and can be written. */
export type DatabaseState = 'up' | 'unavailable' | 'full' | 'read_only';

/** The same may succeed in a moment. Busy work was not done, not even in part; unavailable work may have been. */
export const isTransient = (error: unknown): boolean =>
  error instanceof DatabaseError && (error.kind === 'unavailable' || error.kind === 'busy');

export const isUnavailable = (error: unknown): boolean =>
  error instanceof DatabaseError && error.kind === 'unavailable';
