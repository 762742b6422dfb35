// SPDX-License-Identifier: Apache-2.0
import { randomBytes } from 'node:crypto';
import type { CallEvent } from '../../base/contract/call.js';
import { ServiceError } from '../../base/errors/service-error.js';
import type { ConnectionMemory } from './stream-memory.js';

/** Kept for followers that come late, or come back. */
const MAX_KEPT_EVENTS = 1024;

/** Of a call that is over, in addition to its events. */
const ENDED_CALL_BYTES = 4096;

type CallMemory = Pick<ConnectionMemory, 'keepUnread' | 'keepOnly'>;

/** The events of one call as server-sent events, for any number of followers. */
export class CallLog {
  /** A provider may give several streams the same call, so ids of events name the log. */
  readonly #id = randomBytes(6).toString('hex');
  readonly #memory: CallMemory;
  readonly #events: string[] = [];
  readonly #listeners = new Set<() => void>();
  #keptBytes = 0;
  /** Of the oldest event that is kept. */
  #first = 0;
  #isOver = false;

  constructor(memory: CallMemory) {
    this.#memory = memory;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** @throws ServiceError OVERLOADED */
  tell(event: CallEvent): void {
    const number = this.#first + this.#events.length;
    const text = `id: ${this.#id}-${number}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
    this.#memory.keepUnread(this.#keptBytes + text.length);
    this.#keptBytes += text.length;
    this.#events.push(text);
    if (this.#events.length > MAX_KEPT_EVENTS) {
      this.#keptBytes -= this.#events.shift()?.length ?? 0;
      this.#first++;
    }
    for (const listener of this.#listeners) listener();
  }

  /** No further events. */
  end(): void {
    this.#isOver = true;
    this.#memory.keepOnly(ENDED_CALL_BYTES + this.#keptBytes);
    for (const listener of this.#listeners) listener();
  }

  /** The number after that of the event with this id; 0 if it is no event of this log. */
  after(id: string): number {
    const [, log, number] = /^(\w+)-(\d{1,9})$/.exec(id) ?? [];
    return log === this.#id ? Number(number) + 1 : 0;
  }

  /** The first kept event from this number on, and the number after it. */
  from(number: number): { readonly text: string; readonly next: number } | undefined {
    const at = Math.max(number, this.#first);
    const text = this.#events[at - this.#first];
    return text === undefined ? undefined : { text, next: at + 1 };
  }

  /** @returns ends it */
  listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

/** The calls of this process, by account and by their names at the provider. */
export class Calls {
  readonly #logs = new Map<string, CallLog>();

  /** @returns removes it */
  add(account: string, ids: readonly string[], log: CallLog): () => void {
    const names = ids.map((id) => nameOf(account, id));
    for (const name of names) this.#logs.set(name, log);
    return () => {
      for (const name of names) if (this.#logs.get(name) === log) this.#logs.delete(name);
    };
  }

  /** @throws ServiceError CALL_UNKNOWN */
  find(account: string, id: string): CallLog {
    const log = this.#logs.get(nameOf(account, id));
    if (log === undefined) throw new ServiceError('CALL_UNKNOWN');
    return log;
  }
}

const nameOf = (account: string, id: string): string => `${account} ${id}`;
