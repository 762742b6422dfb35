// SPDX-License-Identifier: Apache-2.0

import { ServiceError } from '../errors/service-error.js';
import type { PrepareResult, SlottedInput } from '../prepare/prepare-task.js';
import type { Analysis, AnalysisProgress, ScoredWindow } from './analysis.js';

interface OpenWindow {
  readonly startS: number;
  readonly endS: number;
  readonly scores: number[];
}

type PrepareSuccess = Extract<PrepareResult, { ok: true }>;

/** Collects what the threads find out about one file until its analysis is whole. Knows nothing of threads. */
export class AnalysisRun {
  readonly #modelId: string;
  readonly #onProgress: ((progress: AnalysisProgress) => void) | undefined;
  readonly #windows: OpenWindow[] = [];
  readonly #promise: Promise<Analysis>;
  #resolve!: (analysis: Analysis) => void;
  #reject!: (reason: unknown) => void;

  #prepared: PrepareSuccess | undefined;
  #scoredInputs = 0;
  #scoredWindows = 0;
  #preparedS = 0;
  #fileProgress = 0;
  #queueMs = 0;
  #inferenceMs = 0;
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

  get promise(): Promise<Analysis> {
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
      scores: new Array<number>(input.inputsInWindow).fill(Number.NaN),
    };
    this.#preparedS = Math.max(this.#preparedS, input.endS);
    this.#fileProgress = Math.max(this.#fileProgress, input.fileProgress);
  }

  scored(input: SlottedInput, score: number, batchMs: number): void {
    if (this.#settled) return;
    if (!Number.isFinite(score)) {
      this.fail(new ServiceError('NON_FINITE_OUTPUT', { model: this.#modelId }));
      return;
    }
    const window = this.#windows[input.windowIndex] as OpenWindow;
    window.scores[input.inputIndex] = score;
    this.#scoredInputs++;
    this.#inferenceMs += batchMs;
    if (!window.scores.some(Number.isNaN)) this.#scoredWindows++;
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
    const {
      durationS,
      skipped,
      damagedPackets,
      damagedAtS,
      speechRatio,
      clippedRatio,
      decodeMs,
      featuresMs,
    } = this.#prepared.summary;
    this.#resolve({
      modelId: this.#modelId,
      durationS,
      windows: this.#windows satisfies ScoredWindow[],
      skipped,
      damagedPackets,
      damagedAtS,
      speechRatio,
      clippedRatio,
      timesMs: { queue: this.#queueMs, decode: decodeMs, features: featuresMs, inference: this.#inferenceMs },
    });
  }
}
