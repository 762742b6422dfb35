// SPDX-License-Identifier: Apache-2.0
import type { ServerMessage } from '../../base/contract/stream.js';
import { invalid } from './client-message.js';
import { EVENT_BYTES } from './stream-memory.js';

/** As many as can be on their way to a client. */
const MAX_KEPT_EVENTS = 512;

/** The events of a stream, the latest of which are kept for a client that comes back. */
export class KeptEvents {
  readonly #kept: ServerMessage[] = [];
  #count = 0;

  /** Of all events, kept or not. */
  get count(): number {
    return this.#count;
  }

  get bytes(): number {
    return this.#kept.length * EVENT_BYTES;
  }

  add(message: ServerMessage): void {
    this.#count++;
    this.#kept.push(message);
    if (this.#kept.length > MAX_KEPT_EVENTS) this.#kept.shift();
  }

  /** @throws ServiceError STREAM_MESSAGE_INVALID */
  after(eventsSeen: number): readonly ServerMessage[] {
    const first = this.#count - this.#kept.length;
    if (eventsSeen > this.#count || eventsSeen < first)
      throw invalid(`events must be from ${first} to ${this.#count}`);
    return this.#kept.slice(eventsSeen - first);
  }
}
