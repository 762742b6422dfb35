// SPDX-License-Identifier: Apache-2.0
import { type AnalysisCounter, countingAnalyser } from '../analyser/counting-analyser.js';
import type { FullAnalyser } from '../analyser/recording.js';
import { type CheckedModels, type CheckedStatus, checkedStatus } from '../known-answers/checked-models.js';

/** The models that requests are answered with, and how many requests that is. */
export class ServedModels {
  readonly analyser: FullAnalyser;
  readonly #wrongAnswers: CheckedModels['wrongAnswers'];
  #requests = 0;
  #whenUnused: (() => void) | undefined;
  #closed: Promise<void> | undefined;

  /** @param counter told of what the models do from now on */
  constructor(
    analyser: FullAnalyser,
    counter: AnalysisCounter | undefined,
    wrongAnswers: CheckedModels['wrongAnswers'] = [],
  ) {
    this.analyser = counter === undefined ? analyser : countingAnalyser(analyser, counter);
    this.#wrongAnswers = wrongAnswers;
  }

  status(): CheckedStatus {
    return checkedStatus({ analyser: this.analyser, wrongAnswers: this.#wrongAnswers });
  }

  enter(): void {
    this.#requests++;
  }

  leave(): void {
    this.#requests--;
    if (this.#requests === 0) this.#whenUnused?.();
  }

  /** Closes the analyser after the last request that has entered. Call it when no more can enter. */
  async retire(): Promise<void> {
    if (this.#requests > 0) {
      await new Promise<void>((resolve) => {
        this.#whenUnused = resolve;
      });
    }
    await this.close();
  }

  /** Closes the analyser now, once. */
  close(): Promise<void> {
    this.#closed ??= this.analyser.close();
    return this.#closed;
  }
}
