// SPDX-License-Identifier: Apache-2.0
import { codedSoundOf } from '../../base/addon/addon.js';
import type { Analysis, AnalysisProgress } from '../analyser/analyser.js';
import { type AnsweringDetector, uncertaintyOf } from './answering-detector.js';
import { type CollectedFile, FileRun } from './file-run.js';

/** A detector's output for a file: one probability per model input. */
export class AnalysisRun extends FileRun<number, Analysis> {
  readonly #detector: AnsweringDetector;

  constructor(detector: AnsweringDetector, onProgress?: (progress: AnalysisProgress) => void) {
    super(detector.id, onProgress);
    this.#detector = detector;
  }

  protected override read([score]: Float64Array): number | undefined {
    return Number.isFinite(score) ? score : undefined;
  }

  protected override resultOf({ modelId, windows, summary, timesMs }: CollectedFile<number>): Analysis {
    const { decodeMs, featuresMs, ...measured } = summary;
    return {
      ...measured,
      modelId,
      ...uncertaintyOf(this.#detector),
      windows: windows.map(({ startS, endS, outputs, ...sound }) => ({
        startS,
        endS,
        scores: outputs,
        ...codedSoundOf(sound),
      })),
      timesMs,
    };
  }
}
