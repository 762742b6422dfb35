// SPDX-License-Identifier: Apache-2.0
import { randomUUID } from 'node:crypto';
import { Conditions } from '../../state/database/conditions.js';
import type { Database, Row, Transaction, Value } from '../../state/database/database.js';
import { nowMs } from '../../state/database/now-ms.js';
import { inPieces, ROWS_AT_ONCE, skipLocked } from '../../state/database/pieces.js';
import { onlyOthers } from '../../state/database/row-of-others.js';
import { DELIVERY_TOPIC } from './add-delivery.js';
import { type Attempt, type Delivery, deliveryColumns, deliveryOf } from './delivery.js';
import { LEASE_MS, OverdueLeases, RENEWAL_TIMEOUT_MS } from './leases.js';
import { MAX_PAUSE_S, pauseAfter } from './schedule.js';

/** A delivery in the hands of a sender. */
export interface Turn {
  readonly delivery: Delivery;
  /** Changes are refused once somebody else has the delivery. */
  readonly holder: string;
  /** Its sender seems dead: changes are refused if the lease was renewed meanwhile. */
  readonly isOverdue?: boolean;
}

/** The way on after a failure. */
export interface Failing {
  /** No further attempt can help. */
  readonly isFinal: boolean;
  readonly retryAfterS?: number | undefined;
}

/** Attempts of one delivery that are kept; replays could make them endless. */
const MAX_LOGGED = 24;

/**
 * Gives senders their deliveries, on any number of hosts. A sender that dies after the client has answered leaves the
 * delivery to another one: each is made at least once.
 */
export class DeliveryWorkTable {
  readonly #database: Database;
  readonly #leaseMs: number;
  readonly #overdue: OverdueLeases;

  constructor(database: Database, leaseMs = LEASE_MS) {
    this.#database = database;
    this.#leaseMs = leaseMs;
    this.#overdue = new OverdueLeases(database, leaseMs);
  }

  /** The next one that is due, or undefined. @param except accounts whose deliveries stay */
  async take(except: readonly string[] = []): Promise<Turn | undefined> {
    // PostgreSQL reads a clock in brackets once, and so finds the place in the index.
    const due = new Conditions("state = 'waiting'", `due_at_ms <= (SELECT ${this.#now})`);
    if (!(await onlyOthers(this.#database, 'webhook_deliveries', due, except))) return undefined;
    const holder = randomUUID();
    const n = due.values.length;
    const [row] = await this.#database.query(
      `UPDATE webhook_deliveries SET state = 'sending', holder = $${n + 1}, leased_until_ms = ${this.#now} + $${n + 2} ` +
        `WHERE id = (SELECT id FROM webhook_deliveries ${due.where} ORDER BY due_at_ms LIMIT 1` +
        `${skipLocked[this.#database.dialect]}) RETURNING ${deliveryColumns}`,
      [...due.values, holder, this.#leaseMs],
    );
    return row && { delivery: deliveryOf(row), holder };
  }

  /** Call it several times per lease. @returns false if another sender has it */
  async renew({ delivery, holder }: Turn): Promise<boolean> {
    const renewed = await this.#database.queryPromptly(
      `UPDATE webhook_deliveries SET leased_until_ms = ${this.#now} + $3 WHERE id = $1 AND holder = $2 RETURNING id`,
      [delivery.id, holder, this.#leaseMs],
      RENEWAL_TIMEOUT_MS,
    );
    return renewed.length > 0;
  }

  /** @returns false if another sender has it */
  succeed(turn: Turn, attempt: Attempt): Promise<boolean> {
    return this.#change(turn, async (transaction) => {
      await this.#log(transaction, turn, attempt);
      await this.#end(transaction, turn, 'delivered');
    });
  }

  /** @returns whether there will be another attempt; undefined if another sender has it */
  async fail(turn: Turn, attempt: Attempt, { isFinal, retryAfterS }: Failing): Promise<boolean | undefined> {
    const { attempts } = turn.delivery;
    const pauseS = isFinal ? undefined : pauseAfter(attempts + 1, retryAfterS);
    const isOurs = await this.#change(turn, async (transaction) => {
      await this.#log(transaction, turn, attempt);
      if (pauseS === undefined) await this.#end(transaction, turn, 'failed');
      else await this.#requeue(transaction, turn, pauseS);
    });
    return isOurs ? pauseS !== undefined : undefined;
  }

  /** Leaves it for later, without an attempt. */
  async postpone(turn: Turn, delayS: number): Promise<void> {
    await this.#change(turn, (transaction) => this.#requeue(transaction, turn, delayS));
  }

  /** Takes deliveries from senders that died, each of which has made an attempt. Any sender calls it now and then. */
  async reap(): Promise<number> {
    // A due time beyond the longest pause comes from before the clock was set back.
    const isLate = `state = 'waiting' AND due_at_ms > (SELECT ${this.#now}) + $1`;
    const some = `SELECT id FROM webhook_deliveries WHERE ${isLate} LIMIT ${ROWS_AT_ONCE}${skipLocked[this.#database.dialect]}`;
    await inPieces(() =>
      this.#database.execute(
        `UPDATE webhook_deliveries SET due_at_ms = ${this.#now} WHERE ${isLate} AND id IN (${some})`,
        [1000 * MAX_PAUSE_S],
      ),
    );
    const dead = await this.#overdue.dead<Row & { holder: string }>(
      // The index is of both states.
      `SELECT ${deliveryColumns}, holder FROM webhook_deliveries WHERE state IN ('waiting', 'sending') AND state = 'sending'`,
    );
    let taken = 0;
    for (const row of dead) {
      const attempt = { atMs: Date.now(), tookMs: 0, problem: 'the server that sent it died' };
      const turn = { delivery: deliveryOf(row), holder: row.holder, isOverdue: true };
      const isTaken = await this.fail(turn, attempt, { isFinal: false });
      if (isTaken !== undefined) taken++;
    }
    return taken;
  }

  /** Calls `onDue` soon after a delivery was added; may come too often. @returns ends it */
  follow(onDue: () => void): () => void {
    return this.#database.follow(DELIVERY_TOPIC, onDue);
  }

  get #now(): string {
    return nowMs[this.#database.dialect];
  }

  #change(
    { delivery, holder, isOverdue }: Turn,
    change: (transaction: Transaction) => Promise<void>,
  ): Promise<boolean> {
    return this.#database.transaction(async (transaction) => {
      const values: Value[] = [delivery.id, holder];
      const still = isOverdue ? ` AND ${this.#overdue.isOver(values)}` : '';
      const held = await transaction.execute(
        `UPDATE webhook_deliveries SET holder = NULL, leased_until_ms = NULL WHERE id = $1 AND holder = $2${still}`,
        values,
      );
      if (held > 0) await change(transaction);
      return held > 0;
    });
  }

  async #log(transaction: Transaction, { delivery }: Turn, attempt: Attempt): Promise<void> {
    await transaction.execute(
      'UPDATE webhook_deliveries SET attempts = attempts + 1, all_attempts = all_attempts + 1 WHERE id = $1',
      [delivery.id],
    );
    await transaction.execute(
      'INSERT INTO webhook_attempts (delivery_id, attempt, at_ms, took_ms, status, problem) VALUES ($1, $2, $3, $4, $5, $6)',
      [
        delivery.id,
        delivery.allAttempts + 1,
        attempt.atMs,
        Math.round(attempt.tookMs),
        attempt.status ?? null,
        attempt.problem ?? null,
      ],
    );
    await transaction.execute('DELETE FROM webhook_attempts WHERE delivery_id = $1 AND attempt <= $2', [
      delivery.id,
      delivery.allAttempts + 1 - MAX_LOGGED,
    ]);
  }

  async #requeue(transaction: Transaction, { delivery }: Turn, delayS: number): Promise<void> {
    await transaction.execute(
      `UPDATE webhook_deliveries SET state = 'waiting', due_at_ms = ${this.#now} + $2 WHERE id = $1`,
      [delivery.id, Math.round(1000 * delayS)],
    );
    if (delayS === 0) await transaction.announce(DELIVERY_TOPIC);
  }

  async #end(transaction: Transaction, { delivery }: Turn, state: 'delivered' | 'failed'): Promise<void> {
    await transaction.execute(
      'UPDATE webhook_deliveries SET state = $2, due_at_ms = NULL, finished_at_ms = $3 WHERE id = $1',
      [delivery.id, state, Date.now()],
    );
  }
}
