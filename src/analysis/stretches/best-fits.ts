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
/** The least reduction of the squares by a fit. */
const MIN_GAIN = 2;
/** Windows that are AI-generated throughout are usually so far above, and the fit of a single window leans on that. */
const USUAL_HEIGHT = 5.5;
const USUAL_WEIGHT = 1;

interface Candidate extends AudioWindow {
  /** The observations that it touches, and the share of each that lies inside. */
  readonly shares: readonly (readonly [at: number, share: number])[];
  readonly sumOfSquares: number;
}

/**
 * A recording of one height inside stretches and none outside gives a window the height by its share inside: fits such stretches
 * to the windows by least squares, the best one first, none of which overlap.
 * @param observations by start
 */
export function bestFits(observations: readonly Observation[]): Fit[] {
  const rest = observations.map(({ above }) => above);
  let candidates = candidatesIn(observations);
  const fits: Fit[] = [];
  for (;;) {
    let best: { readonly candidate: Candidate; readonly height: number; readonly gain: number } | undefined;
    for (const candidate of candidates) {
      const { height, gain } = gainOf(candidate, rest);
      if (gain >= MIN_GAIN && gain > (best?.gain ?? 0)) best = { candidate, height, gain };
    }
    if (best === undefined) return fits;
    const { candidate, height } = best;
    fits.push(fitOf(candidate, observations));
    for (const [at, share] of candidate.shares) rest[at] = (rest[at] as number) - height * share;
    candidates = candidates.filter(
      ({ startS, endS }) => endS <= candidate.startS || startS >= candidate.endS,
    );
  }
}

function candidatesIn(observations: readonly Observation[]): Candidate[] {
  const starts = new Set<number>();
  for (const { startS, endS, above } of observations) {
    if (above > MIN_ABOVE) for (let at = startS; at < endS; at += STEP_S) starts.add(at);
  }
  return [...starts]
    .sort((a, b) => a - b)
    .flatMap((startS) => LENGTHS_S.map((lengthS) => candidateOf(startS, startS + lengthS, observations)));
}

function candidateOf(startS: number, endS: number, observations: readonly Observation[]): Candidate {
  const shares: [number, number][] = [];
  for (const [at, window] of observations.entries()) {
    if (window.startS >= endS) break;
    const insideS = Math.min(window.endS, endS) - Math.max(window.startS, startS);
    if (insideS > 0) shares.push([at, insideS / (window.endS - window.startS)]);
  }
  return { startS, endS, shares, sumOfSquares: shares.reduce((sum, [, share]) => sum + share * share, 0) };
}

/** The height of least squares, and how much less the squares are than without the stretch. */
function gainOf({ shares, sumOfSquares }: Candidate, rest: readonly number[]) {
  const product = shares.reduce((sum, [at, share]) => sum + share * (rest[at] as number), 0);
  const height = Math.max(0, (product + USUAL_WEIGHT * USUAL_HEIGHT) / (sumOfSquares + USUAL_WEIGHT));
  const gain =
    2 * height * product - height * height * sumOfSquares - USUAL_WEIGHT * (height - USUAL_HEIGHT) ** 2;
  return { height, gain };
}

function fitOf({ startS, endS, shares }: Candidate, observations: readonly Observation[]): Fit {
  const aboveAt = (at: number): number => (observations[at] as Observation).above;
  const weights = shares.reduce((sum, [, share]) => sum + share, 0);
  const two = shares
    .map(([at]) => aboveAt(at))
    .sort((a, b) => b - a)
    .slice(0, 2);
  return {
    startS,
    endS,
    mean: shares.reduce((sum, [at, share]) => sum + share * aboveAt(at), 0) / weights,
    clearest: two.reduce((sum, above) => sum + above, 0) / two.length,
  };
}
