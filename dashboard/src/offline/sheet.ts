// SPDX-License-Identifier: Apache-2.0
//
// Findings of `veravox predict`, small enough for a page however long and many the recordings are.
import { type JudgedRecording, type Lane, lanesOf } from '../logic/lanes.js';
import { inSteps, type PeakLevel, type Peaks, withCoarser } from '../logic/peaks.js';
import type { ScoredWindow, Stretch } from '../logic/windows.js';
import { MOST_STRETCHES } from '../parts/verdict/odd-stretches.js';

/** A recording, drawn in bins of one length. */
export interface Outline {
  readonly binS: number;
  readonly bins: readonly {
    /** Largest and smallest sample, -1..1. */
    readonly high: number;
    readonly low: number;
    /** Share of speech, 0..1. */
    readonly speech: number;
  }[];
}

/** A recording that was analysed. */
interface Finding {
  readonly file: string;
  readonly prediction: JudgedRecording & { readonly audio_duration: number };
  /** The exact model. */
  readonly modelId: string;
  readonly threshold: number;
  /** Undefined if it could not be made. */
  readonly outline: Outline | undefined;
}

/** A recording that was not analysed. */
interface Failure {
  readonly file: string;
  readonly problem: string;
}

export type Entry = Finding | Failure;

/** Peaks in JSON. */
interface Level {
  readonly binS: number;
  readonly low: readonly number[];
  readonly high: readonly number[];
}

/** The data of a recording in a page. */
export interface AnalysedSheet {
  readonly file: string;
  readonly durationS: number;
  readonly modelId: string;
  readonly threshold: number;
  readonly lanes: readonly Lane[];
  readonly level?: Level;
  readonly speech?: readonly Stretch[];
}

export type Sheet = AnalysedSheet | Failure;

const inHundredths = (timeS: number): number => Math.round(100 * timeS) / 100;

interface Detail {
  /** At most. */
  readonly windows: number;
  readonly skipped: number;
  readonly warnings: number;
  /** Bins of the outline that become one. */
  readonly joinedBins: number;
}

const whole: Detail = { windows: 600, skipped: 300, warnings: 200, joinedBins: 1 };
/** On a page of more recordings than this. */
const MANY = 10;
const reduced: Detail = { windows: 60, skipped: 60, warnings: 5, joinedBins: 4 };

export function sheetsOf(entries: readonly Entry[]): Sheet[] {
  const detail = entries.length > MANY ? reduced : whole;
  return entries.map((entry) => ('problem' in entry ? entry : sheetOf(entry, detail)));
}

function sheetOf({ file, prediction, modelId, threshold, outline }: Finding, detail: Detail): AnalysedSheet {
  return {
    ...{ file, modelId, threshold },
    durationS: prediction.audio_duration,
    lanes: lanesOf(prediction, threshold, detail.warnings).map((lane) => reducedLane(lane, detail)),
    ...(outline !== undefined && {
      level: levelOf(outline, detail.joinedBins),
      speech: speechIn(outline, detail.joinedBins),
    }),
  };
}

/** Its conclusion is that of all windows. */
function reducedLane(lane: Lane, detail: Detail): Lane {
  const { windows, conclusion, skipped } = lane;
  const spoofed = windows.filter(({ result }) => result === 'spoofed').length;
  const count = `${spoofed} of ${windows.length} windows look AI-generated.`;
  const isJoined = windows.length > detail.windows;
  const perGroup = Math.ceil((2 * windows.length) / detail.windows);
  const joined = `Neighbours are joined: a bar stands for up to ${perGroup} windows of one verdict and shows the clearest score; its times are approximate.`;
  return {
    ...lane,
    conclusion: conclusion && {
      ...conclusion,
      oddStretches: conclusion.oddStretches.slice(0, MOST_STRETCHES),
    },
    windows: isJoined ? joinedWindows(windows, perGroup) : windows,
    skipped: longest(joinedStretches(skipped), detail.skipped),
    ...(windows.length > 0 && { note: isJoined ? `${count} ${joined}` : count }),
  };
}

/** The windows of each group become one of each verdict, with its clearest score: a short part never disappears in a mean. */
function joinedWindows(windows: readonly ScoredWindow[], perGroup: number): ScoredWindow[] {
  const bars: ScoredWindow[] = [];
  for (let i = 0; i < windows.length; i += perGroup) {
    const group = windows.slice(i, i + perGroup);
    const endS = Math.max(...group.map((window) => window.endS));
    let startS = Math.min(...group.map((window) => window.startS));
    const sharedS = (endS - startS) / group.length;
    for (const result of new Set(group.map((window) => window.result))) {
      const own = group.filter((window) => window.result === result);
      const clearest = own.reduce((best, window) => (window.confidence > best.confidence ? window : best));
      const ownEndS = inHundredths(startS + own.length * sharedS);
      bars.push({ ...clearest, startS, endS: ownEndS });
      startS = ownEndS;
    }
  }
  return bars;
}

/** Joins stretches that touch. */
function joinedStretches(stretches: readonly Stretch[]): Stretch[] {
  const joined: Stretch[] = [];
  for (const { startS, endS } of stretches) {
    const last = joined.at(-1);
    if (last !== undefined && startS <= last.endS)
      joined[joined.length - 1] = { startS: last.startS, endS: Math.max(last.endS, endS) };
    else joined.push({ startS, endS });
  }
  return joined;
}

/** By start. */
const longest = (stretches: readonly Stretch[], most: number): Stretch[] =>
  [...stretches]
    .sort((a, b) => b.endS - b.startS - (a.endS - a.startS))
    .slice(0, most)
    .sort((a, b) => a.startS - b.startS);

function levelOf({ binS, bins }: Outline, joinedBins: number): Level {
  const finest = {
    binS,
    low: Int16Array.from(bins, ({ low }) => inSteps(low)),
    high: Int16Array.from(bins, ({ high }) => inSteps(high)),
  };
  const { low, high, ...level } = joinedBins === 1 ? finest : (withCoarser(finest).at(-1) as PeakLevel);
  return { ...level, low: [...low], high: [...high] };
}

export const peaksOf = ({ binS, low, high }: Level): Peaks =>
  withCoarser({ binS, low: Int16Array.from(low), high: Int16Array.from(high) });

/** Bins of which half is speech. */
function speechIn({ binS, bins }: Outline, joinedBins: number): Stretch[] {
  const stretches: Stretch[] = [];
  for (let i = 0; i < bins.length; i += joinedBins) {
    const group = bins.slice(i, i + joinedBins);
    const share = group.reduce((sum, { speech }) => sum + speech, 0) / group.length;
    if (share >= 0.5)
      stretches.push({ startS: inHundredths(i * binS), endS: inHundredths((i + group.length) * binS) });
  }
  return joinedStretches(stretches);
}
