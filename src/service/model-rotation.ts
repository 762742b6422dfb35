// SPDX-License-Identifier: Apache-2.0
import type { CheckedStatus } from '../analysis/known-answers/checked-models.js';
import { type Surroundings, stateOf } from '../api/routes/health.js';
import type { Logger } from '../base/observe/log.js';
import type { GaugeSources } from '../base/observe/service-metrics.js';
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

/** The state of the models in metrics, and whether this process is ready. */
export function gaugesOf(models: ModelRotation, surroundings: Surroundings) {
  const status = (): CheckedStatus => models.status();
  return {
    modelSets: () => models.sets,
    models: status,
    ready: () => stateOf(status(), surroundings) === 'ready',
    databaseUp: () => surroundings.databaseState() === 'up',
    wrongAnswers: () => status().wrongAnswers.length,
    provider: () => status().provider,
    devices: () => status().scoring?.devices ?? [],
    inputsWaiting: () => status().scoring?.waitingCount ?? 0,
    fellBackToCpu: () => status().fallbackReason !== undefined,
  } satisfies Partial<GaugeSources>;
}
