// SPDX-License-Identifier: Apache-2.0

import type { PrepareSummary } from '../../base/addon/addon.js';
import { ServiceError } from '../../base/errors/service-error.js';
import type { AnalysisProgress, StageTimesMs } from '../analyser/analyser.js';
import type { PrepareResult, SlottedInput } from '../prepare/prepare-task.js';

/** A window of the audio, with what the model says of each input that it gave; holes where that is still to come. */
export interface CollectedWindow<Output> {
  readonly startS: number;
  readonly endS: number;
  readonly outputs: Output[];
}

/** Everything about a file once nothing is missing. */
export interface CollectedFile<Output> {
  readonly modelId: string;
  readonly windows: readonly CollectedWindow<Output>[];
  readonly summary: PrepareSummary;
  readonly timesMs: StageTimesMs;
}

type PrepareSuccess = Extract<PrepareResult, { ok: true }>;

/** Collects what the threads find out about one file until that is whole. Knows nothing of threads. */
export abstract class FileRun<Output, Result> {
  readonly #modelId: string;
  readonly #onProgress: ((progress: AnalysisProgress) => void) | undefined;
  readonly #windows: (CollectedWindow<Output> & { missing: number })[] = [];
  readonly #promise: Promise<Result>;
  #resolve!: (result: Result) => void;
  #reject!: (reason: unknown) => void;

  #prepared: PrepareSuccess | undefined;
  #scoredInputs = 0;
  #scoredWindows = 0;
  #preparedS = 0;
  #fileProgress = 0;
  #queueMs = 0;
  #inferenceMs = 0;
  /** Inputs that threads have taken up and not answered yet, and since when there are any. */
  #inputsWithThreads = 0;
  #inferringSinceMs = 0;
  #settled = false;

  constructor(modelId: string, onProgress?: (progress: AnalysisProgress) => void) {
    this.#modelId = modelId;
    this.#onProgress = onProgress;
    this.#promise = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    // Whoever awaits the promise hears of a rejection; it must not count as unhandled before somebody does.
    this.#promise.catch(() => {});
  }

  /** False when the model failed: such an output must never be answered. */
  protected abstract isUsable(output: Output): boolean;

  protected abstract resultOf(file: CollectedFile<Output>): Result;

  get promise(): Promise<Result> {
    return this.#promise;
  }

  /** True once nothing that is still on its way can matter. */
  get settled(): boolean {
    return this.#settled;
  }

  addQueueMs(waitedMs: number): void {
    this.#queueMs += waitedMs;
  }

  announced(input: SlottedInput): void {
    this.#windows[input.windowIndex] ??= {
      startS: input.startS,
      endS: input.endS,
      outputs: new Array<Output>(input.inputsInWindow),
      missing: input.inputsInWindow,
    };
    this.#preparedS = Math.max(this.#preparedS, input.endS);
    this.#fileProgress = Math.max(this.#fileProgress, input.fileProgress);
  }

  /** @param atMs when a thread took an input up */
  takenUp(atMs: number): void {
    if (this.#inputsWithThreads++ === 0) this.#inferringSinceMs = atMs;
  }

  /** @param atMs when the answer came */
  scored(input: SlottedInput, output: Output, atMs: number): void {
    // Wall time: windows that several threads score side by side count once.
    if (--this.#inputsWithThreads === 0) this.#inferenceMs += atMs - this.#inferringSinceMs;
    if (this.#settled) return;
    if (!this.isUsable(output)) {
      this.fail(new ServiceError('NON_FINITE_OUTPUT', { model: this.#modelId }));
      return;
    }
    const window = this.#windows[input.windowIndex] as CollectedWindow<Output> & { missing: number };
    window.outputs[input.inputIndex] = output;
    this.#scoredInputs++;
    if (--window.missing === 0) this.#scoredWindows++;
    this.#onProgress?.({
      scoredWindows: this.#scoredWindows,
      preparedS: this.#preparedS,
      fileProgress: this.#fileProgress,
    });
    this.#finishIfWhole();
  }

  prepared(result: PrepareSuccess): void {
    this.#prepared = result;
    this.#finishIfWhole();
  }

  /** The first reason counts; later ones change nothing. */
  fail(reason: unknown): void {
    this.#settled = true;
    this.#reject(reason);
  }

  // Announcements may overtake the result or the other way round; the count says when both are complete.
  #finishIfWhole(): void {
    if (!this.#prepared || this.#settled || this.#scoredInputs < this.#prepared.inputCount) return;
    this.#settled = true;
    const { decodeMs, featuresMs } = this.#prepared.summary;
    this.#resolve(
      this.resultOf({
        modelId: this.#modelId,
        windows: this.#windows,
        summary: this.#prepared.summary,
        timesMs: {
          queue: this.#queueMs,
          decode: decodeMs,
          features: featuresMs,
          inference: this.#inferenceMs,
        },
      }),
    );
  }
}
