// SPDX-License-Identifier: Apache-2.0
import type { Logger } from '../../base/observe/log.js';
import type { CheckedStatus } from '../known-answers/checked-models.js';
import type { ServedModels } from './served-models.js';

/** The models in use now, and earlier ones that still answer requests begun with them. */
export class ModelRotation {
  readonly #log: Logger;
  readonly #retiring = new Set<ServedModels>();
  #current: ServedModels;

  constructor(first: ServedModels, log: Logger) {
    this.#current = first;
    this.#log = log;
  }

  get current(): ServedModels {
    return this.#current;
  }

  get sets(): number {
    return 1 + this.#retiring.size;
  }

  status(): CheckedStatus {
    return this.#current.status();
  }

  /** Closes those before when they are used no longer. */
  replace(next: ServedModels): void {
    const earlier = this.#current;
    this.#current = next;
    this.#retiring.add(earlier);
    void earlier
      .retire()
      .catch((error) => this.#log.error({ err: error }, 'old models could not be closed'))
      .finally(() => this.#retiring.delete(earlier));
  }

  /** Closes all of them now. */
  async close(): Promise<void> {
    await Promise.all([this.#current, ...this.#retiring].map((served) => served.close()));
  }
}
