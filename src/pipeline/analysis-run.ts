// SPDX-License-Identifier: Apache-2.0
import type { Analysis } from '../analyser/analyser.js';
import { type CollectedFile, FileRun } from './file-run.js';

/** What a detector says of a file: one probability per model input. */
export class AnalysisRun extends FileRun<number, Analysis> {
  protected override isUsable(score: number): boolean {
    return Number.isFinite(score);
  }

  protected override resultOf({ modelId, windows, summary, timesMs }: CollectedFile<number>): Analysis {
    const { durationS, skipped, damagedPackets, damagedAtS, speechRatio, clippedRatio } = summary;
    const { highBandDropDb, noiseGapDb } = summary;
    return {
      modelId,
      durationS,
      windows: windows.map(({ startS, endS, outputs }) => ({ startS, endS, scores: outputs })),
      skipped,
      damagedPackets,
      damagedAtS,
      speechRatio,
      clippedRatio,
      ...(highBandDropDb !== undefined && { highBandDropDb }),
      ...(noiseGapDb !== undefined && { noiseGapDb }),
      timesMs,
    };
  }
}
