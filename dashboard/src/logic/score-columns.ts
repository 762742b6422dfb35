// SPDX-License-Identifier: Apache-2.0
import { windowAt } from './time-span.js';
import type { ScoredWindow, Stretch } from './windows.js';

/** A column of pixels, for windows narrower than one. */
export interface ScoreColumn {
  readonly column: number;
  /** Highest scores of the windows that begin in it; undefined for none of the kind. */
  readonly spoofed: number | undefined;
  readonly bonafide: number | undefined;
}

/** The positions of the windows that are seen: from the first to before the last. @param windows by start */
export function visibleWindows(windows: readonly Stretch[], span: Stretch): [number, number] {
  const from = Math.max(0, windowAt(windows, span.startS));
  let to = from;
  // The last window may begin before the end of the one before it.
  while (to < windows.length && (windows[to] as Stretch).startS < span.endS) to++;
  return [from, to];
}

/** Each two or more windows of a column become one, but none of both kinds is lost. @param columnS its length in seconds */
export function columnsOf(windows: readonly ScoredWindow[], span: Stretch, columnS: number): ScoreColumn[] {
  const columns: { column: number; spoofed: number | undefined; bonafide: number | undefined }[] = [];
  const [from, to] = visibleWindows(windows, span);
  for (let i = from; i < to; i++) {
    const { startS, score, result } = windows[i] as ScoredWindow;
    const column = Math.max(0, Math.floor((startS - span.startS) / columnS));
    let current = columns.at(-1);
    if (current?.column !== column) {
      current = { column, spoofed: undefined, bonafide: undefined };
      columns.push(current);
    }
    current[result] = Math.max(current[result] ?? 0, score);
  }
  return columns;
}
