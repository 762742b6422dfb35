// SPDX-License-Identifier: Apache-2.0
import { FixedWindows } from '../../base/fixed-windows.js';
import type { CloseReason } from '../../base/observe/close-reason.js';
import { type Holder, SharedBudget, type SharePercents } from '../admission/shared-budget.js';

/** Answers in a turn of the event loop: at least this many, at most twice; the rest wait for the next turn. */
const ANSWERS_PER_TURN = 64;
/** Answers without a body that keep their connection: those of each key, and of each address without one. */
const BODILESS_ANSWERS = 64;
const BODILESS_PERIOD_MS = 4000;

export interface AnswerLimitOptions {
  /** Bytes of unread answers, over all connections. */
  readonly maxBytes: number;
  /** Shares of holders. */
  readonly percents?: SharePercents;
  /** Time for a client to read one. */
  readonly timeoutMs: number;
  readonly onClose: (reason: CloseReason) => void;
}

/**
 * Limits the memory of unread answers. A connection never has more than one answer under way: uWebSockets.js ends it if the
 * next request is parsed before the answer was read.
 */
export class AnswerLimits {
  readonly timeoutMs: number;
  readonly onClose: (reason: CloseReason) => void;
  readonly #memory: SharedBudget;
  readonly #bodiless = new FixedWindows(BODILESS_ANSWERS, BODILESS_PERIOD_MS);
  #leftThisTurn = 2 * ANSWERS_PER_TURN;

  constructor({ maxBytes, percents, timeoutMs, onClose }: AnswerLimitOptions) {
    this.#memory = new SharedBudget(maxBytes, percents);
    this.timeoutMs = timeoutMs;
    this.onClose = onClose;
  }

  get usedBytes(): number {
    return this.#memory.inUse;
  }

  /** False if an answer of this size would be too much, in total or for this holder. */
  take(holder: Holder, bytes: number): boolean {
    if (this.#memory.obstacle(holder, bytes) !== undefined) return false;
    this.#memory.take(holder, bytes);
    return true;
  }

  release(holder: Holder, bytes: number): void {
    this.#memory.give(holder, bytes);
  }

  /**
   * False if this turn of the event loop has answered enough. Pipelined requests arrive in one turn: without a limit,
   * half a megabyte of them would keep everybody else waiting.
   */
  takeTurn(): boolean {
    if (this.#leftThisTurn === 0) return false;
    this.#leftThisTurn--;
    // Not in each turn, because most turns have few answers.
    if (this.#leftThisTurn === ANSWERS_PER_TURN - 1) {
      setImmediate(() => {
        this.#leftThisTurn = 2 * ANSWERS_PER_TURN;
      });
    }
    return true;
  }

  /**
   * False if an answer without a body must end its connection. The system does not tell whether it has taken the answer, so a
   * client that reads nothing could pile up such answers.
   */
  takeBodiless({ key, address = '' }: Holder): boolean {
    return !this.#bodiless.count(key ?? address).isExceeded;
  }
}
