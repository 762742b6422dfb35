// SPDX-License-Identifier: Apache-2.0
import type { Worker } from 'node:cluster';
import type { Question, ToProcess } from './messages.js';

/** Time for an answer before the others go without. */
const TIMEOUT_MS = 2000;

/** Asks each process of a server about itself. */
export class ProcessQuestions {
  readonly #tell: (worker: Worker, message: ToProcess) => void;
  readonly #waiting = new Map<number, (answer: unknown) => void>();
  #lastId = 0;

  constructor(tell: (worker: Worker, message: ToProcess) => void) {
    this.#tell = tell;
  }

  /** The answers that came in time. */
  async askAll<Answer>(workers: readonly Worker[], question: Question): Promise<Answer[]> {
    const answers = await Promise.all(workers.map((worker) => this.#ask(worker, question)));
    return answers.filter((answer) => answer !== null && answer !== undefined) as Answer[];
  }

  answered(id: number, answer: unknown): void {
    this.#waiting.get(id)?.(answer);
  }

  #ask(worker: Worker, question: Question): Promise<unknown> {
    const id = ++this.#lastId;
    return new Promise<unknown>((resolve) => {
      const timer = setTimeout(resolve, TIMEOUT_MS);
      this.#waiting.set(id, (answer) => {
        clearTimeout(timer);
        resolve(answer);
      });
      this.#tell(worker, { kind: 'tell', id, question });
    }).finally(() => this.#waiting.delete(id));
  }
}
