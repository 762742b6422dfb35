// SPDX-License-Identifier: Apache-2.0
import type { Logger } from '../../base/observe/log.js';
import type { FullAnalyser } from '../analyser/recording.js';
import { aliasesOf } from '../pipeline/model-status.js';
import { type CheckedModels, checkedStatus } from './checked-models.js';
import { describeCheck } from './known-answers.js';

export interface ModelReloadOptions {
  /** Reads the manifest, loads and warms its models, and asks for their known answers. */
  readonly start: () => Promise<CheckedModels>;
  /** Puts models into use; if it throws, they are closed again. */
  readonly use: (analyser: FullAnalyser) => void;
  readonly onResult: (result: 'loaded' | 'failed') => void;
  readonly log: Logger;
}

/**
 * Loads models anew beside those in use and has them put into use once they are warm and right. If that fails, nothing changes.
 * There is one reload at a time, and one more for all requests that came meanwhile, since their cause may have come too late
 * for the first.
 */
export class ModelReload {
  readonly #options: ModelReloadOptions;
  #running: Promise<void> | undefined;
  #isWantedAgain = false;
  #isClosed = false;

  constructor(options: ModelReloadOptions) {
    this.#options = options;
  }

  request(): void {
    if (this.#isClosed) this.#options.log.info('models not reloaded: the server is stopping');
    else if (this.#running === undefined) this.#running = this.#run();
    else this.#isWantedAgain = true;
  }

  /** No further reload puts models into use; resolves when the one under way has given up its own. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    do {
      this.#isWantedAgain = false;
      await this.#reload();
    } while (this.#isWantedAgain && !this.#isClosed);
    this.#running = undefined;
  }

  async #reload(): Promise<void> {
    const { use, onResult, log } = this.#options;
    const beginMs = performance.now();
    try {
      const analyser = await this.#loaded();
      if (analyser === undefined) return;
      const status = analyser.status();
      const { models, speakerModels } = status;
      const speakers = speakerModels.map(({ id }) => id);
      try {
        use(analyser);
      } catch (error) {
        await analyser.close();
        throw error;
      }
      const tookMs = Math.round(performance.now() - beginMs);
      log.info({ models, aliases: aliasesOf(status), speakerModels: speakers, tookMs }, 'models reloaded');
      onResult('loaded');
    } catch (error) {
      log.error({ err: error }, 'models could not be reloaded; keeping the current ones');
      onResult('failed');
    }
  }

  /** Undefined if the models are no longer wanted. */
  async #loaded(): Promise<FullAnalyser | undefined> {
    const checked = await this.#options.start();
    const { analyser, wrongAnswers } = checked;
    if (checkedStatus(checked).ready && !this.#isClosed) return analyser;
    await analyser.close();
    if (this.#isClosed) return undefined;
    throw new Error(wrongAnswers.map(describeCheck).join('; '));
  }
}
