// SPDX-License-Identifier: Apache-2.0
import type net from 'node:net';
import pg from 'pg';
import type { Followers } from './followers.js';
import { DatabaseSocket } from './postgres-settings.js';

const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 5000;
/** A connection that is cut without a word looks like one on which nothing happens. */
const HEARTBEAT_MS = 5000;
const HEARTBEAT_TIMEOUT_MS = 2000;
/** For the server to hear that it is over. */
const CLOSE_MS = 1000;

/** The connection on which PostgreSQL tells of changes. It is opened again whenever it breaks. */
export class PostgresListener {
  static readonly CHANNEL = 'veravox_changes';
  readonly #settings: pg.ClientConfig;
  readonly #followers: Followers;
  #client: pg.Client | undefined;
  #socket: net.Socket | undefined;
  #timer: NodeJS.Timeout | undefined;
  #pauseMs = FIRST_PAUSE_MS;
  #isClosed = false;

  constructor(settings: pg.ClientConfig, followers: Followers) {
    this.#settings = {
      ...settings,
      query_timeout: HEARTBEAT_TIMEOUT_MS,
      stream: () => {
        this.#socket = new DatabaseSocket();
        return this.#socket;
      },
    };
    this.#followers = followers;
  }

  start(): void {
    if (!this.#isClosed) void this.#connect();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    const client = this.#client;
    this.#client = undefined;
    if (client === undefined) return;
    const socket = this.#socket;
    // The client waits until the server has closed the connection, which a hanging one never does.
    const timer = setTimeout(() => socket?.destroy(), CLOSE_MS);
    await client.end().catch(() => {});
    clearTimeout(timer);
  }

  async #connect(): Promise<void> {
    const client = new pg.Client(this.#settings);
    this.#client = client;
    client.on('error', () => this.#broken(client));
    client.on('end', () => this.#broken(client));
    client.on('notification', ({ payload }) => this.#followers.tell(payload ?? ''));
    try {
      await client.connect();
      await client.query(`LISTEN ${PostgresListener.CHANNEL}`);
    } catch {
      this.#broken(client);
      return;
    }
    if (this.#client !== client) return;
    this.#pauseMs = FIRST_PAUSE_MS;
    // Changes while nobody listened.
    this.#followers.tellAll();
    this.#beat(client);
  }

  #beat(client: pg.Client): void {
    this.#later(HEARTBEAT_MS, () => {
      client.query('SELECT 1').then(
        () => {
          if (this.#client === client) this.#beat(client);
        },
        () => this.#broken(client),
      );
    });
  }

  #broken(client: pg.Client): void {
    if (this.#client !== client) return;
    this.#client = undefined;
    void client.end().catch(() => {});
    const pauseMs = this.#pauseMs;
    this.#pauseMs = Math.min(MAX_PAUSE_MS, pauseMs * 2);
    this.#later(pauseMs, () => this.start());
  }

  #later(delayMs: number, work: () => void): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(work, delayMs);
    this.#timer.unref();
  }
}
