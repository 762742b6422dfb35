// SPDX-License-Identifier: Apache-2.0
import { clock, ticksIn } from '../../logic/clock.js';
import { resultWords } from '../../logic/conclusion.js';
import { gainOf, levelFor, type Peaks, peakIn } from '../../logic/peaks.js';
import { columnsOf, visibleWindows } from '../../logic/score-columns.js';
import type { ScoredWindow, Stretch } from '../../logic/windows.js';
import type { Colours } from './colours.js';

export interface TimelineFacts {
  readonly durationS: number;
  /** By start. */
  readonly windows: readonly ScoredWindow[];
  /** Without enough speech. */
  readonly skipped: readonly Stretch[];
  /** 0..1 */
  readonly threshold: number;
  /** Undefined while they are being made. */
  readonly peaks: Peaks | undefined;
  /** Whether there is a row for the waveform: an empty one would look like silence. */
  readonly hasWave: boolean;
  /** Stretches with speech; without them there is no row for them. */
  readonly speech?: readonly Stretch[] | undefined;
}

/** The facts that a drawing's height depends on. */
type Rows = Pick<TimelineFacts, 'hasWave' | 'speech'>;

export interface Seen {
  readonly span: Stretch;
  /** Position of the chosen window. */
  readonly chosen: number | undefined;
  readonly playingS: number | undefined;
}

/** In CSS pixels. */
export const LEFT = 66;
const RIGHT_MARGIN = 8;
const WAVE = { middle: 48, half: 44, height: 96 };
/** From the end of the waveform, or from the top. */
const SPEECH = { top: 4, height: 10, rowHeight: 16 };
/** From the end of the rows above. */
const ANALYSED = { top: 4, height: 10 };
const SCORE = { top: 28, bottom: 124, height: 152 };
const TICK_PX = 110;
/** From this width on, bars have a pattern, and then a word. */
const PATTERN_FROM_PX = 5;
const WORD_FROM_PX = 84;
const FONT = '12px system-ui, sans-serif';

const waveEnd = ({ hasWave }: Rows): number => (hasWave ? WAVE.height : 0);
const topOf = (rows: Rows): number => waveEnd(rows) + (rows.speech === undefined ? 0 : SPEECH.rowHeight);

export const heightOf = (rows: Rows): number => topOf(rows) + SCORE.height;

export const plotWidth = (width: number): number => Math.max(1, width - LEFT - RIGHT_MARGIN);

/** Draws only the visible part. */
export function drawTimeline(
  context: CanvasRenderingContext2D,
  width: number,
  facts: TimelineFacts,
  seen: Seen,
  colours: Colours,
): void {
  const { span } = seen;
  const plot = plotWidth(width);
  const pxPerS = plot / (span.endS - span.startS);
  const x = (timeS: number): number => LEFT + (timeS - span.startS) * pxPerS;
  const top = topOf(facts);
  const scoreY = (score: number): number => top + SCORE.bottom - score * (SCORE.bottom - SCORE.top);
  const rows = { analysed: top + ANALYSED.top, bottom: top + SCORE.bottom, scoreTop: top + SCORE.top };
  const drawing: Drawing = { context, facts, seen, colours, plot, pxPerS, x, scoreY, ...rows };
  const height = heightOf(facts);
  context.fillStyle = colours.card;
  context.fillRect(0, 0, width, height);
  context.font = FONT;
  drawAxis(drawing);
  context.save();
  context.beginPath();
  context.rect(LEFT, 0, plot, height);
  context.clip();
  drawWave(drawing);
  drawSpeech(drawing);
  drawAnalysed(drawing);
  drawScores(drawing);
  drawChosen(drawing);
  context.restore();
  drawLabels(drawing);
}

interface Drawing {
  readonly context: CanvasRenderingContext2D;
  readonly facts: TimelineFacts;
  readonly seen: Seen;
  readonly colours: Colours;
  readonly plot: number;
  readonly pxPerS: number;
  /** Tops of rows, and the bottom of the scores. */
  readonly analysed: number;
  readonly scoreTop: number;
  readonly bottom: number;
  x(timeS: number): number;
  scoreY(score: number): number;
}

function drawAxis(drawing: Drawing): void {
  const { context, colours, plot, x, scoreY, bottom } = drawing;
  const { span } = drawing.seen;
  context.fillStyle = colours.rule;
  for (const score of [0, 0.5, 1]) context.fillRect(LEFT, Math.round(scoreY(score)), plot, 1);
  context.textAlign = 'center';
  context.textBaseline = 'alphabetic';
  for (const timeS of ticksIn(span.startS, span.endS, Math.max(2, plot / TICK_PX))) {
    const at = x(timeS);
    context.fillStyle = colours.rule;
    context.fillRect(Math.round(at), bottom, 1, 6);
    context.fillStyle = colours.soft;
    const text = clock(timeS);
    const half = context.measureText(text).width / 2;
    context.fillText(text, Math.min(Math.max(at, LEFT + half), LEFT + plot - half), bottom + 20);
  }
}

function drawWave({ context, facts: { peaks }, seen: { span }, colours, plot, pxPerS }: Drawing): void {
  const level = peaks && levelFor(peaks, 1 / pxPerS);
  if (peaks === undefined || level === undefined) return;
  context.fillStyle = colours.wave;
  context.fillRect(LEFT, WAVE.middle, plot, 1);
  const half = WAVE.half * gainOf(peaks);
  for (let column = 0; column < plot; column++) {
    const startS = span.startS + column / pxPerS;
    const peak = peakIn(level, startS, startS + 1 / pxPerS);
    if (peak === undefined) return;
    const top = Math.round(WAVE.middle - half * peak[1]);
    const bottom = Math.round(WAVE.middle - half * peak[0]);
    context.fillRect(LEFT + column, top, 1, Math.max(1, bottom - top));
  }
}

function drawSpeech({ context, facts, seen: { span }, colours, x }: Drawing): void {
  context.fillStyle = colours.soft;
  for (const { startS, endS } of facts.speech ?? []) {
    if (endS < span.startS || startS > span.endS) continue;
    context.fillRect(x(startS), waveEnd(facts) + SPEECH.top, Math.max(1, x(endS) - x(startS)), SPEECH.height);
  }
}

/** The parts that windows cover; skipped silence is hatched. */
function drawAnalysed({ context, facts, seen: { span }, colours, x, analysed: top }: Drawing): void {
  const { windows, skipped } = facts;
  const { height } = ANALYSED;
  context.fillStyle = colours.analysed;
  const [from, to] = visibleWindows(windows, span);
  for (let i = from; i < to; ) {
    const { startS } = windows[i] as ScoredWindow;
    let endS = startS;
    for (; i < to && (windows[i] as ScoredWindow).startS <= endS; i++)
      endS = Math.max(endS, (windows[i] as ScoredWindow).endS);
    context.fillRect(x(startS), top, Math.max(1, x(endS) - x(startS)), height);
  }
  for (const { startS, endS } of skipped) {
    if (endS < span.startS || startS > span.endS) continue;
    const width = Math.max(1, x(endS) - x(startS));
    context.fillStyle = colours.card;
    context.fillRect(x(startS), top, width, height);
    context.fillStyle = colours.silence;
    context.fillRect(x(startS), top, width, height);
  }
}

function drawScores(drawing: Drawing): void {
  const { facts, seen, plot, context, colours, scoreY } = drawing;
  const [from, to] = visibleWindows(facts.windows, seen.span);
  if (to - from > plot / 2) drawColumns(drawing);
  else {
    for (let i = from; i < to; i++) drawBar(drawing, facts.windows[i] as ScoredWindow);
  }
  context.strokeStyle = colours.ink;
  context.lineWidth = 1.5;
  context.setLineDash([6, 4]);
  context.beginPath();
  context.moveTo(LEFT, scoreY(facts.threshold));
  context.lineTo(LEFT + plot, scoreY(facts.threshold));
  context.stroke();
  context.setLineDash([]);
  // Words are few, and lie above the line.
  if (to - from <= plot / WORD_FROM_PX + 2) {
    for (let i = from; i < to; i++) drawWord(drawing, facts.windows[i] as ScoredWindow, facts.windows[i + 1]);
  }
}

/** Bars of one pixel: the part above the threshold is spoofed. */
function drawColumns(drawing: Drawing): void {
  const { context, facts, colours, pxPerS, scoreY, bottom } = drawing;
  const { span } = drawing.seen;
  const columns = columnsOf(facts.windows, span, 1 / pxPerS);
  for (const result of ['spoofed', 'bonafide'] as const) {
    context.fillStyle = colours[result];
    for (const each of columns) {
      const score = each[result];
      if (score === undefined) continue;
      const top = Math.round(scoreY(score));
      context.fillRect(LEFT + each.column, top, 1, bottom - top);
    }
  }
}

/** Its place in pixels. */
function barOf({ x, pxPerS, scoreY }: Drawing, { startS, endS, score }: ScoredWindow) {
  const left = Math.round(x(startS));
  // Neighbours are told apart if there is room.
  const gap = pxPerS * (endS - startS) > 3 ? 1 : 0;
  return { left, top: Math.round(scoreY(score)), width: Math.max(1, Math.round(x(endS)) - left - gap) };
}

function drawBar(drawing: Drawing, window: ScoredWindow): void {
  const { context, colours, bottom } = drawing;
  const { left, top, width } = barOf(drawing, window);
  const { result } = window;
  const height = bottom - top;
  const isWide = width >= PATTERN_FROM_PX;
  const pattern = result === 'spoofed' ? colours.spoofedPattern : colours.bonafideFill;
  context.fillStyle = isWide ? pattern : colours[result];
  context.fillRect(left, top, width, height);
  context.fillStyle = colours[result];
  if (isWide) context.fillRect(left, top, width, 3);
}

/** @param next whose bar covers the end of this one if the windows overlap */
function drawWord(drawing: Drawing, window: ScoredWindow, next: ScoredWindow | undefined): void {
  const { context, colours, scoreTop } = drawing;
  const { left, top, width: wholeWidth } = barOf(drawing, window);
  const width = next === undefined ? wholeWidth : Math.min(wholeWidth, barOf(drawing, next).left - left);
  if (width < WORD_FROM_PX) return;
  const middle = left + width / 2;
  const y = top - scoreTop > 18 ? top - 6 : top + 18;
  const half = context.measureText(resultWords[window.result]).width / 2 + 3;
  context.textAlign = 'center';
  context.textBaseline = 'alphabetic';
  context.fillStyle = colours.card;
  context.fillRect(middle - half, y - 11, 2 * half, 14);
  context.fillStyle = colours[window.result];
  context.fillText(resultWords[window.result], middle, y);
}

function drawChosen({ context, facts, seen, colours, x, bottom }: Drawing): void {
  const { chosen, playingS } = seen;
  const window = chosen === undefined ? undefined : facts.windows[chosen];
  if (window !== undefined) {
    const left = Math.round(x(window.startS)) + 0.5;
    context.strokeStyle = colours.accent;
    context.lineWidth = 2;
    context.strokeRect(left, 2, Math.max(3, Math.round(x(window.endS)) - left - 1), bottom - 2);
  }
  if (playingS === undefined) return;
  context.fillStyle = colours.accent;
  context.fillRect(Math.round(x(playingS)), 0, 2, bottom);
}

function drawLabels({ context, facts, colours, scoreY, analysed }: Drawing): void {
  const { threshold, peaks, hasWave, speech } = facts;
  context.textAlign = 'right';
  context.textBaseline = 'middle';
  context.fillStyle = colours.soft;
  if (hasWave) {
    const gain = peaks === undefined ? 1 : gainOf(peaks);
    context.fillText('audio', LEFT - 8, WAVE.middle - (gain > 1 ? 8 : 0));
    if (gain > 1) context.fillText(`× ${gain.toFixed(gain < 10 ? 1 : 0)}`, LEFT - 8, WAVE.middle + 8);
  }
  if (speech !== undefined)
    context.fillText('speech', LEFT - 8, waveEnd(facts) + SPEECH.top + SPEECH.height / 2);
  context.fillText('analysed', LEFT - 8, analysed + ANALYSED.height / 2);
  for (const score of [0, 1]) {
    if (Math.abs(score - threshold) <= 0.15) continue;
    context.fillText(score === 1 ? 'score 1' : '0', LEFT - 8, scoreY(score));
  }
  context.fillStyle = colours.ink;
  context.fillText(`≥ ${Number(threshold.toFixed(3))}`, LEFT - 8, scoreY(threshold));
}
