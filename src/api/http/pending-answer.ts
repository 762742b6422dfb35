// SPDX-License-Identifier: Apache-2.0
import type { CloseReason } from '../../base/observe/close-reason.js';
import type { Holder } from '../admission/shared-budget.js';
import type { AnswerLimits } from './answer-limits.js';
import type { HttpResponse } from './uws.js';

/** The unread rest of an answer. */
export class PendingAnswer {
  readonly #limits: AnswerLimits;
  readonly #holder: Holder;
  readonly #heldBytes: number;
  #timer: NodeJS.Timeout | undefined;

  private constructor(limits: AnswerLimits, holder: Holder, heldBytes: number) {
    this.#limits = limits;
    this.#holder = holder;
    this.#heldBytes = heldBytes;
  }

  /**
   * Offers the body to the system, which says how much it took; nothing is buffered here. The rest is offered again when
   * there is room, and until then uWebSockets.js parses no further request.
   * @returns undefined if the system has taken all of it, or the connection was closed
   */
  static offer(
    res: HttpResponse,
    body: string | Uint8Array,
    totalBytes: number,
    limits: AnswerLimits,
    holder: Holder,
    writeHead: () => void,
  ): PendingAnswer | undefined {
    let isTaken = true;
    res.cork(() => {
      writeHead();
      [isTaken] = res.tryEnd(body, totalBytes);
    });
    if (isTaken) return undefined;
    const giveUp = (reason: CloseReason): void => {
      limits.onClose(reason);
      res.close();
    };
    // A body shared by all its readers takes no extra memory.
    const heldBytes = typeof body === 'string' ? totalBytes : 0;
    if (!limits.take(holder, heldBytes)) {
      giveUp('answer_memory');
      return undefined;
    }
    const pending = new PendingAnswer(limits, holder, heldBytes);
    pending.#timer = setTimeout(() => giveUp('answer_not_taken'), limits.timeoutMs);
    pending.#timer.unref();
    const rest = typeof body === 'string' ? Buffer.from(body) : body;
    res.onWritable((offset) => {
      let isDone = false;
      res.cork(() => {
        [isDone] = res.tryEnd(rest.subarray(offset), totalBytes);
      });
      if (isDone) pending.letGo();
      return isDone;
    });
    return pending;
  }

  /** Call it when the connection has ended. */
  letGo(): void {
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#limits.release(this.#holder, this.#heldBytes);
  }
}
