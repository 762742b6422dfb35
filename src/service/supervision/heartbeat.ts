// SPDX-License-Identifier: Apache-2.0

export interface HeartbeatOptions {
  /** The longest time a serving process may leave a question unanswered. */
  readonly limitMs: number;
  /** Asks the process for a sign of life, which is passed to `answered`. */
  ask(): void;
  /** Told again after each further `limitMs` without an answer. */
  onSilence(): void;
}

/** Looks per time limit: how often a process is asked, and how late its silence may be noticed. */
const LOOKS = 5;
/** A process that starts may block for longer, while it loads libraries and models. */
const START_LIMITS = 6;

/**
 * Notices that a process no longer answers. It counts looks instead of reading a clock: when the supervisor or the whole
 * machine was suspended, the time that has passed says nothing about the process.
 */
export class Heartbeat {
  readonly #options: HeartbeatOptions;
  readonly #timer: NodeJS.Timeout;
  /** From the beginning: the first sign of life comes unasked. */
  #isAwaited = true;
  #silentLooks = 0;
  #allowedLooks = LOOKS * START_LIMITS;

  constructor(options: HeartbeatOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#look(), options.limitMs / LOOKS);
  }

  answered(): void {
    this.#isAwaited = false;
  }

  /** The process has started: from now on it is to answer within the limit. */
  serves(): void {
    this.#allowedLooks = LOOKS;
  }

  end(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    if (!this.#isAwaited) {
      this.#isAwaited = true;
      this.#silentLooks = 0;
      this.#options.ask();
      return;
    }
    this.#silentLooks++;
    if (this.#silentLooks < this.#allowedLooks) return;
    this.#silentLooks = 0;
    this.#options.onSilence();
  }
}
