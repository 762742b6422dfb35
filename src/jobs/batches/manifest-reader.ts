// SPDX-License-Identifier: Apache-2.0
import { Worker } from 'node:worker_threads';
import { ServiceError } from '../../base/errors/service-error.js';
import { lineFieldSchemas } from '../contract/batch-fields.js';
import type { ManifestRecord } from './manifest-records.js';
import type { ManifestAnswer, ManifestOrder, ManifestThreadData } from './manifest-thread.js';

interface Pending {
  resolve(answer: ManifestAnswer): void;
  reject(reason: unknown): void;
}

type Order = ManifestOrder extends infer Any ? (Any extends unknown ? Omit<Any, 'id'> : never) : never;

/** Reads manifests on a thread of their own, which starts with the first. */
export class ManifestReader {
  readonly #pending = new Map<number, Pending>();
  #worker: Worker | undefined;
  #lastId = 0;

  /**
   * The records of a manifest in their order, some at a time; with the fields of a line only.
   * @param blocks its bytes; asked for one by one, as they are needed
   * @throws ServiceError MANIFEST_INVALID, or the errors of the blocks
   */
  async *records(blocks: AsyncIterable<Uint8Array>): AsyncGenerator<readonly ManifestRecord[], void, void> {
    const id = ++this.#lastId;
    const source = blocks[Symbol.asyncIterator]();
    try {
      let answer = await this.#ask(id, { kind: 'next' });
      while (answer.kind !== 'end') {
        if (answer.kind === 'invalid')
          throw new ServiceError('MANIFEST_INVALID', { problem: answer.problem });
        if (answer.kind === 'failed') throw new Error(answer.problem);
        if (answer.kind === 'records') yield answer.records;
        answer =
          answer.kind === 'records'
            ? await this.#ask(id, { kind: 'next' })
            : await this.#ask(id, { kind: 'block', block: (await source.next()).value ?? undefined });
      }
    } finally {
      this.#worker?.postMessage({ id, kind: 'drop' } satisfies ManifestOrder);
      await source.return?.();
    }
  }

  async close(): Promise<void> {
    await this.#worker?.terminate();
  }

  #ask(id: number, order: Order): Promise<ManifestAnswer> {
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      this.#worker ??= this.#start();
      this.#worker.ref();
      this.#worker.postMessage({ id, ...order });
    });
  }

  #start(): Worker {
    const workerData: ManifestThreadData = { fields: Object.keys(lineFieldSchemas) };
    const worker = new Worker(new URL('./manifest-thread.js', import.meta.url), { workerData });
    worker.on('message', (answer: ManifestAnswer) => {
      this.#pending.get(answer.id)?.resolve(answer);
      this.#pending.delete(answer.id);
      // A program that has nothing to read may end.
      if (this.#pending.size === 0) worker.unref();
    });
    const ended = (reason: unknown): void => {
      // The next manifest starts another one.
      if (this.#worker === worker) this.#worker = undefined;
      for (const { reject } of this.#pending.values()) reject(reason);
      this.#pending.clear();
    };
    worker.on('error', ended);
    worker.on('exit', () => ended(new Error('The thread that reads manifests has ended.')));
    return worker;
  }
}
