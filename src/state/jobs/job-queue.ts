// SPDX-License-Identifier: Apache-2.0
import type { Queries, Transaction } from '../database/database.js';
import type { DeliveryQueue } from '../webhooks/delivery-queue.js';

/** Tries of a job before it fails for good. */
export const MAX_TRIES = 5;
/** Before the second try; doubled before each further one. */
export const RETRY_DELAY_S = 5;

/** A job in the queue. */
export interface QueuedJob {
  readonly id: string;
  /** The only workers that can do it are those of this data folder or bucket; undefined if any can. */
  readonly home?: string | undefined;
}

/**
 * Which job is next, and when it is tried again. All changes are part of the caller's transaction, so that the queue and the table
 * of jobs agree whatever happens.
 */
export interface JobQueue {
  /** @param priority jobs with a higher one go first */
  add(transaction: Transaction, job: QueuedJob, priority: number): Promise<void>;
  /**
   * Takes the next one that is due, of the first of these homes that has one. A single host takes all.
   * @param except accounts whose jobs stay; with some, the homes have no order
   */
  take(
    transaction: Transaction,
    homes?: readonly QueuedJob['home'][],
    except?: readonly string[],
  ): Promise<string | undefined>;
  /** Whether `take` would find one. */
  hasDue(queries: Queries, homes: readonly QueuedJob['home'][], except: readonly string[]): Promise<boolean>;
  /** Of one that was taken. @returns whether it will be tried again */
  retry(transaction: Transaction, job: QueuedJob, reason: string): Promise<boolean>;
  /** Of one that failed for good: as if it were new. */
  revive(transaction: Transaction, job: QueuedJob, priority: number): Promise<void>;
  /** Of one that was taken: at once, without counting as a try. */
  giveBack(transaction: Transaction, job: QueuedJob): Promise<void>;
  /** Of one that waits. */
  move(transaction: Transaction, job: QueuedJob, priority: number): Promise<void>;
  /** Of one that was taken or waits. */
  remove(transaction: Transaction, job: QueuedJob): Promise<void>;
  /** What tells clients of the ends of their jobs is due when its time has come. */
  readonly webhooks: DeliveryQueue;
  close(): Promise<void>;
}
