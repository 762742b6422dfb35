// SPDX-License-Identifier: Apache-2.0
import { at, escaped, label, line } from '../../evaluation/drawings/svg.js';
import { clock } from '../prediction-table.js';
import type { Outline } from './outline.js';
import type { TimelineRow } from './timeline-rows.js';

export interface TimelineFacts {
  readonly durationS: number;
  /** 0..1 */
  readonly threshold: number;
  readonly rows: readonly TimelineRow[];
  /** Undefined if it could not be made. */
  readonly outline: Outline | undefined;
}

const WIDTH = 960;
const LEFT = 64;
const RIGHT = WIDTH - 16;
const WAVE = { middle: 52, half: 40 };
const SPEECH = { top: 104, height: 12 };
const SCORE = { top: 134, bottom: 274 };
const HEIGHT = 306;

const stepsS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 28_800, 86_400];
const MAX_TICKS = 9;

/** Waveform, speech and scores over time, one above the other. */
export function timelineDrawing(facts: TimelineFacts, title: string): string {
  const { durationS, threshold, rows, outline } = facts;
  const x = (timeS: number): number => LEFT + (Math.min(timeS, durationS) / durationS) * (RIGHT - LEFT);
  const y = (score: number): number => SCORE.bottom - score * (SCORE.bottom - SCORE.top);
  const scores = rows.map((row) => {
    const kind = row.meanScore >= threshold ? 'positive' : 'negative';
    const width = Math.max(1, x(row.endS) - x(row.startS) - 0.5);
    const high = y(row.highestScore);
    const height = Math.max(2, y(row.lowestScore) - high);
    const hint = `${clock(row.startS)} to ${clock(row.endS)}: score ${row.meanScore.toFixed(3)}`;
    return `<rect x="${at(x(row.startS))}" y="${at(high)}" width="${at(width)}" height="${at(height)}" class="${kind}"><title>${escaped(hint)}</title></rect>`;
  });
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" class="plot" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${escaped(title)}">` +
    `<rect class="paper" width="100%" height="100%"/>${outline === undefined ? '' : outlineShapes(outline, x)}` +
    [0, 0.5, 1]
      .map(
        (score) =>
          line(LEFT, y(score), RIGHT, y(score), 'grid') +
          label(LEFT - 8, y(score) + 4, String(score), 'end', 'muted'),
      )
      .join('') +
    label(8, WAVE.middle + 4, 'audio', 'start', 'muted') +
    label(8, SPEECH.top + 10, 'speech', 'start', 'muted') +
    label(8, (SCORE.top + SCORE.bottom) / 2 - 12, 'score', 'start', 'muted') +
    scores.join('') +
    line(LEFT, y(threshold), RIGHT, y(threshold), 'guide') +
    label(RIGHT, y(threshold) - 4, `threshold ${Number(threshold.toFixed(4))}`, 'end', 'muted') +
    timeTicks(durationS, x) +
    '</svg>'
  );
}

function outlineShapes({ binS, bins }: Outline, x: (timeS: number) => number): string {
  const wave = bins.map(({ high, low }, i) => {
    const [top, bottom] = [WAVE.middle - WAVE.half * high, WAVE.middle - WAVE.half * low];
    return `M${at(x((i + 0.5) * binS))} ${at(top)}V${at(Math.max(bottom, top + 0.5))}`;
  });
  const speech: string[] = [];
  for (let i = 0; i < bins.length; i++) {
    const from = i;
    while (i < bins.length && (bins[i]?.speech ?? 0) >= 0.5) i++;
    if (i === from) continue;
    const [start, end] = [x(from * binS), x(i * binS)];
    speech.push(
      `M${at(start)} ${SPEECH.top}H${at(Math.max(end, start + 0.5))}v${SPEECH.height}H${at(start)}z`,
    );
  }
  return `<path class="wave" stroke-width="${at(Math.max(1, x(binS) - LEFT))}" d="${wave.join('')}"/><path class="speech" d="${speech.join('')}"/>`;
}

function timeTicks(durationS: number, x: (timeS: number) => number): string {
  const stepS =
    stepsS.find((step) => durationS / step <= MAX_TICKS) ??
    86_400 * Math.ceil(durationS / 86_400 / MAX_TICKS);
  const ticks: string[] = [];
  for (let timeS = 0; timeS <= durationS; timeS += stepS) {
    const anchor = timeS === 0 ? 'start' : x(timeS) > RIGHT - 24 ? 'end' : 'middle';
    ticks.push(
      line(x(timeS), SCORE.bottom, x(timeS), SCORE.bottom + 5, 'frame') +
        label(x(timeS), SCORE.bottom + 20, clock(timeS).replace(/\.0$/, ''), anchor, 'muted'),
    );
  }
  return ticks.join('');
}
