// SPDX-License-Identifier: Apache-2.0
import type { AudioWindow } from '../analyser/analyser.js';

/** A window, and how far its log-odds lie above the centre of its recording. */
export interface Observation extends AudioWindow {
  readonly above: number;
}

export interface Fit extends AudioWindow {
  /** Above the centre: the mean of the windows inside, by the share of each that lies inside. */
  readonly mean: number;
  /** The same of the two clearest windows that it touches. */
  readonly clearest: number;
}

const STEP_S = 0.5;
const LENGTHS_S = [1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5, 5.5, 6, 7, 8, 10, 12, 15, 20];
/** Stretches begin in windows that are at least so far above. */
const MIN_ABOVE = 1;
/** The least part of the squares that a fit explains. */
const MIN_GAIN = 2;
/** Windows that are AI-generated throughout are usually so far above, and the fit of a single window leans on that. */
const USUAL_HEIGHT = 5.5;
const USUAL_WEIGHT = 1;

/** A group of windows has up to 10,000: they hold numbers only. */
interface Candidate extends AudioWindow {
  /** The observations that it touches lie from `first` to before `end`. */
  readonly first: number;
  readonly end: number;
  /** The height of least squares, and how much less the squares are than without the stretch. */
  height: number;
  gain: number;
}

/**
 * A recording of one height inside stretches and none outside gives a window the height by its share inside: fits such stretches
 * to the windows by least squares, the best one first, none of which overlap.
 * @param observations by start
 */
export function bestFits(observations: readonly Observation[]): Fit[] {
  const rest = observations.map(({ above }) => above);
  // Nothing gains by what a fit takes from the rest.
  let candidates = candidatesIn(observations, rest).filter(({ gain }) => gain >= MIN_GAIN);
  const fits: Fit[] = [];
  for (;;) {
    const best = bestOf(candidates);
    if (best === undefined) return fits;
    fits.push(fitOf(best, observations));
    for (let at = best.first; at < best.end; at++) {
      rest[at] = (rest[at] as number) - best.height * shareOf(best, observations[at] as Observation);
    }
    candidates = candidates.filter((other) => other.endS <= best.startS || other.startS >= best.endS);
    for (const other of candidates) {
      if (other.first < best.end && other.end > best.first) weigh(other, observations, rest);
    }
  }
}

function bestOf(candidates: readonly Candidate[]): Candidate | undefined {
  let best: Candidate | undefined;
  for (const candidate of candidates) {
    if (candidate.gain >= MIN_GAIN && candidate.gain > (best?.gain ?? 0)) best = candidate;
  }
  return best;
}

function candidatesIn(observations: readonly Observation[], rest: readonly number[]): Candidate[] {
  const starts = new Set<number>();
  for (const { startS, endS, above } of observations) {
    if (above > MIN_ABOVE) for (let at = startS; at < endS; at += STEP_S) starts.add(at);
  }
  const candidates: Candidate[] = [];
  let first = 0;
  for (const startS of [...starts].sort((a, b) => a - b)) {
    while ((observations[first] as Observation).endS <= startS) first++;
    let end = first;
    for (const lengthS of LENGTHS_S) {
      const endS = startS + lengthS;
      while (end < observations.length && (observations[end] as Observation).startS < endS) end++;
      const candidate = { startS, endS, first, end, height: 0, gain: 0 };
      weigh(candidate, observations, rest);
      candidates.push(candidate);
    }
  }
  return candidates;
}

/** The share of a window that lies inside. */
function shareOf({ startS, endS }: AudioWindow, window: AudioWindow): number {
  const insideS = Math.min(window.endS, endS) - Math.max(window.startS, startS);
  return Math.max(0, insideS) / (window.endS - window.startS);
}

function weigh(candidate: Candidate, observations: readonly Observation[], rest: readonly number[]): void {
  let product = 0;
  let sumOfSquares = 0;
  for (let at = candidate.first; at < candidate.end; at++) {
    const share = shareOf(candidate, observations[at] as Observation);
    product += share * (rest[at] as number);
    sumOfSquares += share * share;
  }
  const height = Math.max(0, (product + USUAL_WEIGHT * USUAL_HEIGHT) / (sumOfSquares + USUAL_WEIGHT));
  candidate.height = height;
  candidate.gain =
    2 * height * product - height * height * sumOfSquares - USUAL_WEIGHT * (height - USUAL_HEIGHT) ** 2;
}

function fitOf(candidate: Candidate, observations: readonly Observation[]): Fit {
  const inside = observations
    .slice(candidate.first, candidate.end)
    .map((window) => ({ share: shareOf(candidate, window), above: window.above }))
    .filter(({ share }) => share > 0);
  const weights = inside.reduce((sum, { share }) => sum + share, 0);
  const two = inside
    .map(({ above }) => above)
    .sort((a, b) => b - a)
    .slice(0, 2);
  return {
    startS: candidate.startS,
    endS: candidate.endS,
    mean: inside.reduce((sum, { share, above }) => sum + share * above, 0) / weights,
    clearest: two.reduce((sum, above) => sum + above, 0) / two.length,
  };
}
