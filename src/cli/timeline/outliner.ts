// SPDX-License-Identifier: Apache-2.0
import { Worker } from 'node:worker_threads';
import type { Config } from '../../base/config/options.js';
import type { Outline } from './outline.js';
import type { OutlineAnswer, OutlineTask, OutlineWorkerData } from './outline-worker.js';

/** Makes outlines of recordings, one after the other, on a thread of its own. */
export class Outliner {
  readonly #worker: Worker;
  readonly #ended: Promise<never>;
  #turn: Promise<unknown> = Promise.resolve();

  constructor({ decoderSandbox }: Pick<Config, 'decoderSandbox'>, maxDurationS: number) {
    const workerData: OutlineWorkerData = { sandbox: decoderSandbox, maxDurationS };
    this.#worker = new Worker(new URL('./outline-worker.js', import.meta.url), { workerData });
    this.#ended = new Promise((_, reject) => {
      this.#worker.on('error', reject).on('exit', () => reject(new Error('The thread has ended.')));
    });
    this.#ended.catch(() => {});
  }

  /** @throws Error if the recording cannot be decoded */
  outline(task: OutlineTask): Promise<Outline> {
    const mine = this.#turn.then(async () => {
      const answered = new Promise<OutlineAnswer>((resolve) => this.#worker.once('message', resolve));
      this.#worker.postMessage(task);
      const answer = await Promise.race([answered, this.#ended]);
      if ('problem' in answer) throw new Error(answer.problem);
      return answer.outline;
    });
    this.#turn = mine.catch(() => {});
    return mine;
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }
}
