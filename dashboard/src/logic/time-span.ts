// SPDX-License-Identifier: Apache-2.0
import type { Stretch } from './windows.js';

/** Closer than this, a waveform shows no more than a window. */
const SHORTEST_S = 2;

export const lengthOf = ({ startS, endS }: Stretch): number => endS - startS;

export const whole = (durationS: number): Stretch => ({ startS: 0, endS: durationS });

/** The same length, moved into the recording, and no longer than that. */
function within({ startS, endS }: Stretch, durationS: number): Stretch {
  const lengthS = Math.min(endS - startS, durationS);
  const start = Math.min(Math.max(0, startS), durationS - lengthS);
  return { startS: start, endS: start + lengthS };
}

/**
 * The visible span after zooming: the time under the pointer stays in place.
 * @param factor above 1 to see less of it, larger
 * @param atS the time that stays
 */
export function zoomed(span: Stretch, factor: number, atS: number, durationS: number): Stretch {
  const lengthS = Math.min(durationS, Math.max(Math.min(SHORTEST_S, durationS), lengthOf(span) / factor));
  const share = (atS - span.startS) / lengthOf(span);
  const startS = atS - share * lengthS;
  return within({ startS, endS: startS + lengthS }, durationS);
}

export const panned = ({ startS, endS }: Stretch, byS: number, durationS: number): Stretch =>
  within({ startS: startS + byS, endS: endS + byS }, durationS);

/** The span moved just so far that it shows a stretch. */
export function showing(span: Stretch, { startS, endS }: Stretch, durationS: number): Stretch {
  if (startS >= span.startS && endS <= span.endS) return span;
  const lengthS = Math.max(lengthOf(span), endS - startS);
  const start = startS < span.startS ? startS : endS - lengthS;
  return within({ startS: start, endS: start + lengthS }, durationS);
}

/** The position of the window at a time, or of the nearest one; -1 without windows. @param windows by start */
export function windowAt(windows: readonly Stretch[], timeS: number): number {
  let low = 0;
  let high = windows.length - 1;
  if (high < 0) return -1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((windows[middle] as Stretch).startS <= timeS) low = middle;
    else high = middle - 1;
  }
  const at = windows[low] as Stretch;
  const next = windows[low + 1];
  return timeS > at.endS && next !== undefined && next.startS - timeS < timeS - at.endS ? low + 1 : low;
}
