// SPDX-License-Identifier: Apache-2.0
import type { CallLog } from '../streams/call-log.js';
import { News, RECONNECT_MS, SIGN_OF_LIFE } from './event-stream.js';
import type { ReplyTexts } from './route.js';

/** The events of a call for one client. */
export class CallEvents implements ReplyTexts {
  readonly #log: CallLog;
  readonly #news = new News();
  readonly #leave: () => void;
  #next: number;
  #isFirst = true;
  #isClosed = false;

  /** @param next number of the first event to send */
  constructor(log: CallLog, next: number) {
    this.#log = log;
    this.#next = next;
    this.#leave = log.listen(this.#news.tell);
  }

  async next(): Promise<string | undefined> {
    if (this.#isFirst) {
      this.#isFirst = false;
      return `retry: ${RECONNECT_MS}\n\n`;
    }
    const event = this.#take();
    if (event !== undefined || this.#isDone) return event;
    await this.#news.wait();
    return this.#take() ?? (this.#isDone ? undefined : SIGN_OF_LIFE);
  }

  close(): void {
    this.#isClosed = true;
    this.#leave();
    this.#news.tell();
  }

  get #isDone(): boolean {
    return this.#log.isOver || this.#isClosed;
  }

  #take(): string | undefined {
    const event = this.#log.from(this.#next);
    if (event !== undefined) this.#next = event.next;
    return event?.text;
  }
}
