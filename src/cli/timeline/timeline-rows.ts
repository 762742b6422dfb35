// SPDX-License-Identifier: Apache-2.0
import type { Prediction } from '../../base/contract/prediction.js';

/** Neighbouring windows that are shown as one; a single one in short recordings. */
export interface TimelineRow {
  readonly startS: number;
  readonly endS: number;
  readonly windows: number;
  readonly spoofed: number;
  readonly meanScore: number;
  readonly lowestScore: number;
  readonly highestScore: number;
}

const scoreOf = ({ scores }: Prediction['segments'][number]): number =>
  scores.reduce((sum, value) => sum + value, 0) / scores.length;

/** In the order of time. Each row has the same number of windows, but for the last. */
export function timelineRows(segments: Prediction['segments'], maxRows: number): TimelineRow[] {
  const perRow = Math.ceil(segments.length / maxRows);
  const rows: TimelineRow[] = [];
  for (let i = 0; i < segments.length; i += perRow) {
    const group = segments.slice(i, i + perRow);
    const scores = group.map(scoreOf);
    rows.push({
      startS: Math.min(...group.map(({ start }) => start)),
      endS: Math.max(...group.map(({ end }) => end)),
      windows: group.length,
      spoofed: group.filter(({ result }) => result === 'spoofed').length,
      meanScore: scores.reduce((sum, value) => sum + value, 0) / scores.length,
      lowestScore: Math.min(...scores),
      highestScore: Math.max(...scores),
    });
  }
  return rows;
}
