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

  private constructor(
    res: HttpResponse,
    body: Uint8Array,
    limits: AnswerLimits,
    holder: Holder,
    heldBytes: number,
  ) {
    this.#limits = limits;
    this.#holder = holder;
    this.#heldBytes = heldBytes;
    this.#timer = setTimeout(() => giveUp(res, limits, 'answer_not_taken'), limits.timeoutMs);
    this.#timer.unref();
    res.onWritable((offset) => {
      let isDone = false;
      res.cork(() => {
        [isDone] = res.tryEnd(body.subarray(offset), body.length);
      });
      if (isDone) this.letGo();
      return isDone;
    });
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
    // A body shared by all its readers takes no extra memory.
    const heldBytes = typeof body === 'string' ? totalBytes : 0;
    if (!limits.take(holder, heldBytes)) {
      giveUp(res, limits, 'answer_memory');
      return undefined;
    }
    // No function made here may wait with it: it would keep the text in addition to its bytes.
    const bytes = typeof body === 'string' ? Buffer.from(body) : body;
    return new PendingAnswer(res, bytes, limits, holder, heldBytes);
  }

  /** Call it when the connection has ended. */
  letGo(): void {
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#limits.release(this.#holder, this.#heldBytes);
  }
}

function giveUp(res: HttpResponse, limits: AnswerLimits, reason: CloseReason): void {
  limits.onClose(reason);
  res.close();
}
