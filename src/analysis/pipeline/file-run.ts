// SPDX-License-Identifier: Apache-2.0
import { type CodedSound, codedSoundOf, type PrepareSummary } from '../../base/addon/addon.js';
import { ServiceError } from '../../base/errors/service-error.js';
import type { AnalysisProgress, StageTimesMs } from '../analyser/analyser.js';
import type { PrepareResult, SlottedInput } from '../prepare/prepare-task.js';
import type { FlightRun } from './flight.js';

/** A window of the audio, with the model's output for each of its inputs; missing outputs are holes. */
export interface CollectedWindow<Output> extends CodedSound {
  readonly startS: number;
  readonly endS: number;
  readonly outputs: Output[];
}

/** The complete results for a file. */
export interface CollectedFile<Output> {
  readonly modelId: string;
  readonly windows: readonly CollectedWindow<Output>[];
  readonly summary: PrepareSummary;
  readonly timesMs: StageTimesMs;
}

type PrepareSuccess = Extract<PrepareResult, { ok: true }>;

/** Collects the results of the threads for one file until they are complete. Knows nothing of threads. */
export abstract class FileRun<Output, Result> implements FlightRun {
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
  /** Inputs in work on threads, and since when there have been any. */
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
    // A rejection before anybody awaits the promise must not count as unhandled.
    this.#promise.catch(() => {});
  }

  /** Undefined if the model failed: its output must never be answered. */
  protected abstract read(output: Float64Array): Output | undefined;

  protected abstract resultOf(file: CollectedFile<Output>): Result;

  get promise(): Promise<Result> {
    return this.#promise;
  }

  /** True once no further result can matter. */
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
      ...codedSoundOf(input),
    };
    this.#preparedS = Math.max(this.#preparedS, input.endS);
    this.#fileProgress = Math.max(this.#fileProgress, input.fileProgress);
  }

  takenUp({ windowIndex, inputIndex }: SlottedInput, waitedMs: number, atMs: number): void {
    if (windowIndex === 0 && inputIndex === 0) this.addQueueMs(waitedMs);
    if (this.#inputsWithThreads++ === 0) this.#inferringSinceMs = atMs;
  }

  scored(input: SlottedInput, output: Float64Array, atMs: number): void {
    // Wall time: windows scored in parallel count once.
    if (--this.#inputsWithThreads === 0) this.#inferenceMs += atMs - this.#inferringSinceMs;
    if (this.#settled) return;
    const read = this.read(output);
    if (read === undefined) {
      this.fail(new ServiceError('NON_FINITE_OUTPUT', { model: this.#modelId }));
      return;
    }
    const window = this.#windows[input.windowIndex] as CollectedWindow<Output> & { missing: number };
    window.outputs[input.inputIndex] = read;
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

  fail(reason: unknown): void {
    this.#settled = true;
    this.#reject(reason);
  }

  // Announcements and the result may arrive in any order; the count tells when both are complete.
  #finishIfWhole(): void {
    const { summary, inputCount = 0 } = this.#prepared ?? {};
    if (summary === undefined || this.#settled || this.#scoredInputs < inputCount) return;
    this.#settled = true;
    const { decodeMs, featuresMs } = summary;
    this.#resolve(
      this.resultOf({
        modelId: this.#modelId,
        windows: this.#windows,
        summary,
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
