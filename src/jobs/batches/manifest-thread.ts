// SPDX-License-Identifier: Apache-2.0
//
// The thread that reads manifests: megabytes of hostile text take seconds, which the main thread does not have. It works on any
// number of manifests in turn, a block or a hundred records at a time, and never waits for their source.
import { parentPort, workerData } from 'node:worker_threads';
import { ManifestInvalid, type ManifestRecord, manifestRecords } from './manifest-records.js';

export interface ManifestThreadData {
  /** Others of a record stay behind. */
  readonly fields: readonly string[];
}

/** Each has one answer, but for `drop`. The first of a manifest is `next`. */
export type ManifestOrder = { readonly id: number } & (
  | { readonly kind: 'next' | 'drop' }
  /** As it was wanted; undefined after the last. */
  | { readonly kind: 'block'; readonly block: Uint8Array | undefined }
);

export type ManifestAnswer = { readonly id: number } & (
  | { readonly kind: 'wanted' | 'end' }
  | { readonly kind: 'records'; readonly records: readonly ManifestRecord[] }
  /** With the fault of the manifest, or of the thread. */
  | { readonly kind: 'invalid' | 'failed'; readonly problem: string }
);

/** Few enough for the main thread to receive at once, however long they are. */
const RECORDS_AT_ONCE = 100;
/** So that a block of tiny records is not in memory as objects all at once. */
const PIECE_CHARS = 16 * 1024;

const { fields } = workerData as ManifestThreadData;

class Reading {
  readonly #id: number;
  readonly #records = manifestRecords(this.#text());
  #take: { give(block: Uint8Array | undefined): void; stop(reason: Error): void } | undefined;

  constructor(id: number) {
    this.#id = id;
  }

  async next(): Promise<void> {
    const records: ManifestRecord[] = [];
    while (records.length < RECORDS_AT_ONCE) {
      const { done, value } = await this.#records.next();
      if (done && records.length === 0) answer({ id: this.#id, kind: 'end' });
      if (done) break;
      records.push(value && known(value));
    }
    if (records.length > 0) answer({ id: this.#id, kind: 'records', records });
  }

  give(block: Uint8Array | undefined): void {
    this.#take?.give(block);
  }

  stop(): void {
    this.#take?.stop(new Error('Nobody wants the rest.'));
    void this.#records.return();
  }

  async *#text(): AsyncGenerator<string, void, void> {
    const decoder = new TextDecoder('utf-8', { fatal: true });
    for (;;) {
      const block = await new Promise<Uint8Array | undefined>((give, stop) => {
        this.#take = { give, stop };
        answer({ id: this.#id, kind: 'wanted' });
      });
      const text = decoded(decoder, block);
      for (let at = 0; at < text.length; at += PIECE_CHARS) yield text.slice(at, at + PIECE_CHARS);
      if (block === undefined) return;
    }
  }
}

function decoded(decoder: InstanceType<typeof TextDecoder>, block: Uint8Array | undefined): string {
  try {
    return decoder.decode(block, { stream: block !== undefined });
  } catch {
    throw new ManifestInvalid('it is not UTF-8');
  }
}

const known = (record: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    fields.filter((name) => Object.hasOwn(record, name)).map((name) => [name, shallow(record[name])]),
  );

/** No field of a line is an array or an object; deep ones cannot be sent to another thread. */
function shallow(value: unknown): unknown {
  if (Array.isArray(value)) return [];
  return typeof value === 'object' && value !== null ? {} : value;
}

const readings = new Map<number, Reading>();

function answer(message: ManifestAnswer): void {
  parentPort?.postMessage(message);
}

function readingOf(id: number): Reading {
  const reading = readings.get(id) ?? new Reading(id);
  readings.set(id, reading);
  return reading;
}

parentPort?.on('message', (order: ManifestOrder) => {
  const { id } = order;
  if (order.kind === 'block') readings.get(id)?.give(order.block);
  else if (order.kind === 'drop') {
    readings.get(id)?.stop();
    readings.delete(id);
  } else {
    readingOf(id)
      .next()
      .catch((error: Error) => {
        const kind = error instanceof ManifestInvalid ? 'invalid' : 'failed';
        answer({ id, kind, problem: error.message });
      });
  }
});
