// SPDX-License-Identifier: Apache-2.0
import type { AdminDrift, ModelDrift } from '../contract/drift.js';
import { addTo, logitEdges, totalOf } from '../drift/score-bins.js';
import {
  emptyHistograms,
  type KindHistograms,
  type ScoreCounts,
  type ScoredBy,
} from '../drift/score-counts.js';
import type { ScoreReference } from '../drift/score-table.js';
import { MIN_CURRENT_FILES, REFERENCE_FILES, readingOf, stabilityIndex } from '../drift/stability-index.js';

const HOUR_MS = 3_600_000;

export const driftAnswer = (models: readonly ModelDrift[]): AdminDrift => ({
  logit_edges: logitEdges,
  min_files: MIN_CURRENT_FILES,
  reference_files: REFERENCE_FILES,
  models,
});

export function modelDrift(
  by: ScoredBy,
  counts: ScoreCounts,
  reference: ScoreReference | undefined,
): ModelDrift {
  const hours = counts.hoursOf(by);
  const current = emptyHistograms();
  for (const [, { file, window }] of hours) {
    addTo(current.file, file);
    addTo(current.window, window);
  }
  const isEnough = reference?.isWhole === true && totalOf(current.file) >= MIN_CURRENT_FILES;
  const index = (kind: keyof KindHistograms): number | null =>
    (isEnough ? stabilityIndex(reference.histograms[kind], current[kind]) : undefined) ?? null;
  const [fileIndex, windowIndex] = [index('file'), index('window')];
  return {
    model: by.model,
    reference:
      reference === undefined
        ? null
        : {
            origin: reference.origin,
            complete: reference.isWhole,
            made_at: new Date(reference.madeAtMs).toISOString(),
            ...bodyOf(reference.histograms),
          },
    current: bodyOf(current),
    hours: hours.map(([hour, histograms]) => ({
      begins_at: new Date(hour * HOUR_MS).toISOString(),
      ...bodyOf(histograms),
    })),
    file_index: fileIndex,
    window_index: windowIndex,
    reading:
      fileIndex === null || windowIndex === null ? 'too_few' : readingOf(Math.max(fileIndex, windowIndex)),
  };
}

const bodyOf = ({ file, window }: KindHistograms) => ({
  files: totalOf(file),
  windows: totalOf(window),
  file_bins: file,
  window_bins: window,
});
