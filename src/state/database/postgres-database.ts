// SPDX-License-Identifier: Apache-2.0
import pg from 'pg';
import { atMost } from '../../base/at-most.js';
import {
  type Database,
  DatabaseError,
  isUnavailable,
  type Queries,
  type Row,
  type Transaction,
  type TransactionOptions,
  type Value,
} from './database.js';
import { Followers } from './followers.js';
import { postgresFailure } from './postgres-failure.js';
import { PostgresListener } from './postgres-listener.js';
import { CONNECT_TIMEOUT_MS, SCHEMA, sessionSettings } from './postgres-settings.js';
import { asTransaction, checkStatement, refuseInside } from './statement.js';

type Client = Pick<pg.ClientBase, 'query'>;

/** Statements of work without a time limit: such as a migration of a large table. */
const LONG_MS = 86_400_000;

/** A PostgreSQL database, for any number of hosts. */
export class PostgresDatabase implements Database {
  readonly dialect = 'postgres';
  readonly name: string;
  readonly #settings: pg.PoolConfig;
  /** In line for a lock, as for a connection. */
  readonly #patienceMs: number;
  #pool: pg.Pool;
  #left: pg.Pool | undefined;
  readonly #listener: PostgresListener;
  readonly #followers = new Followers(() => this.#listener.start());
  readonly #begunWork = new Set<Promise<unknown>>();
  /** By lock, the end of the last transaction here that has or awaits it. */
  readonly #lastOf = new Map<string, Promise<unknown>>();
  #closed: Promise<void> | undefined;

  /** Connects when it is first used. */
  constructor(settings: pg.ClientConfig, connections: number) {
    const { host, port, database, connectionTimeoutMillis = CONNECT_TIMEOUT_MS } = settings;
    this.name = `postgres://${host}:${port}/${database}`;
    this.#patienceMs = connectionTimeoutMillis;
    this.#settings = { ...settings, max: connections, allowExitOnIdle: true };
    this.#pool = openPool(this.#settings);
    this.#listener = new PostgresListener(settings, this.#followers);
  }

  query<Answer extends Row = Row>(sql: string, parameters: readonly Value[] = []): Promise<Answer[]> {
    return this.#begun(() => this.#queriesOf(this.#pool).query<Answer>(sql, parameters));
  }

  queryPromptly<Answer extends Row = Row>(
    sql: string,
    parameters: readonly Value[],
    timeoutMs: number,
  ): Promise<Answer[]> {
    const ask = async (): Promise<Answer[]> => {
      const pool = this.#pool;
      const patience: pg.QueryConfig & { query_timeout: number } = { text: sql, query_timeout: timeoutMs };
      checkStatement(sql, parameters);
      try {
        return (await pool.query<Answer>({ ...patience, values: [...parameters] })).rows;
      } catch (error) {
        const failure = postgresFailure(this.name, error);
        if (isUnavailable(failure)) this.#leave(pool);
        throw failure;
      }
    };
    return this.#begun(() => ask().catch((error) => (isUnavailable(error) ? ask() : Promise.reject(error))));
  }

  execute(sql: string, parameters: readonly Value[] = []): Promise<number> {
    return this.#begun(() => this.#queriesOf(this.#pool).execute(sql, parameters));
  }

  transaction<Result>(
    work: (transaction: Transaction) => Promise<Result>,
    options: TransactionOptions = {},
  ): Promise<Result> {
    return this.#begun(() => this.#inTurn(options.lock, () => this.#transaction(work, options)));
  }

  async #transaction<Result>(
    work: (transaction: Transaction) => Promise<Result>,
    { lock, isLong = false }: TransactionOptions,
  ): Promise<Result> {
    const client = await this.#asked(() => this.#pool.connect());
    // The connection may break while nothing is asked; the next statement tells.
    const ignore = (): void => {};
    client.on('error', ignore);
    const ask = isLong ? patient(client) : client;
    const queries = this.#queriesOf(ask);
    let isBroken = true;
    try {
      await this.#asked(() => client.query(isLong ? 'BEGIN; SET LOCAL statement_timeout TO 0' : 'BEGIN'));
      if (lock !== undefined) {
        await queries.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))::TEXT', [
          `veravox ${lock}`,
        ]);
        // Another host may have made the schema in the meantime.
        await this.#asked(() => client.query(`SET LOCAL search_path TO ${SCHEMA}`));
      }
      const result = await asTransaction(this, () =>
        work({
          ...queries,
          script: async (sql) => void (await this.#asked(() => ask.query(sql))),
          announce: async (topic) => void (await queries.query(announcing, [topic])),
        }),
      );
      await this.#asked(() => client.query('COMMIT'));
      isBroken = false;
      return result;
    } catch (error) {
      // It would not answer this either: the server rolls back when the connection is closed.
      isBroken =
        isUnavailable(error) ||
        (await client.query('ROLLBACK').then(
          () => false,
          () => true,
        ));
      throw error;
    } finally {
      client.off('error', ignore);
      client.release(isBroken);
    }
  }

  readonly follow: Database['follow'] = (topic, onChange) => this.#followers.add(topic, onChange);

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    // The pool forgets work that waits for a connection.
    await Promise.allSettled(this.#begunWork);
    await Promise.all([this.#listener.close(), this.#pool.end()]);
  }

  /**
   * Cut with one connection, the others probably are. Connections in use are closed when they are given back. Before that, no other pool
   * is left: a server that is merely slow would get ever more connections.
   */
  #leave(pool: pg.Pool): void {
    if (pool !== this.#pool || (this.#left?.totalCount ?? 0) > 0) return;
    this.#left = pool;
    this.#pool = openPool(this.#settings);
    // A pool that ends forgets work that waits for a connection, and the server may only have been slow.
    const end = (): void => {
      if (pool.waitingCount === 0 && !pool.ending) void pool.end().catch(() => {});
    };
    pool.on('acquire', end);
    end();
  }

  /**
   * Of each lock, one connection waits for it, and leaves the others to other work. If the server is silent, each takes half a minute
   * to fail: those behind it give up earlier.
   */
  async #inTurn<Result>(lock: string | undefined, work: () => Promise<Result>): Promise<Result> {
    if (lock === undefined) return work();
    const before = this.#lastOf.get(lock) ?? Promise.resolve();
    const turn = atMost(this.#patienceMs, before).then((isNext) => {
      if (isNext) return work();
      throw new DatabaseError('busy', 'LINE', `The database ${this.name}: a lock was not free in time.`);
    });
    const end = Promise.allSettled([before, turn]).then(() => {
      if (this.#lastOf.get(lock) === end) this.#lastOf.delete(lock);
    });
    this.#lastOf.set(lock, end);
    return turn;
  }

  async #begun<Result>(work: () => Promise<Result>): Promise<Result> {
    refuseInside(this);
    if (this.#closed !== undefined) {
      throw new DatabaseError('unavailable', 'CLOSED', `The database ${this.name} is closed.`);
    }
    const begun = work();
    this.#begunWork.add(begun);
    try {
      return await begun;
    } finally {
      this.#begunWork.delete(begun);
    }
  }

  #queriesOf(client: Client): Queries {
    const ask = async (sql: string, parameters: readonly Value[]): Promise<pg.QueryResult> => {
      checkStatement(sql, parameters);
      // Bytes must be a Buffer to the client, or it writes them as text.
      const values = parameters.map((value) => (value instanceof Uint8Array ? Buffer.from(value) : value));
      return this.#asked(() => client.query(sql, values));
    };
    return {
      dialect: this.dialect,
      query: async <Answer extends Row>(sql: string, parameters: readonly Value[] = []) =>
        (await ask(sql, parameters)).rows as Answer[],
      execute: async (sql, parameters = []) => (await ask(sql, parameters)).rowCount ?? 0,
    };
  }

  async #asked<Answer>(work: () => Promise<Answer>): Promise<Answer> {
    try {
      return await work();
    } catch (error) {
      throw postgresFailure(this.name, error);
    }
  }
}

function openPool(settings: pg.PoolConfig): pg.Pool {
  const onConnect = async (client: pg.ClientBase): Promise<void> =>
    void (await client.query(sessionSettings));
  const pool = new pg.Pool({ ...settings, onConnect });
  // A connection that breaks while nobody uses it leaves the pool by itself.
  pool.on('error', () => {});
  return pool;
}

const announcing = `SELECT pg_notify('${PostgresListener.CHANNEL}', $1)::TEXT`;

const patient = (client: pg.ClientBase): Client => ({
  query: ((text: string, values?: unknown[]) =>
    client.query({
      text,
      ...(values && { values }),
      query_timeout: LONG_MS,
    } as pg.QueryConfig)) as Client['query'],
});
