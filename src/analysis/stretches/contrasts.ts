// SPDX-License-Identifier: Apache-2.0
import type { Analysis, AudioWindow, ScoredWindow } from '../analyser/analyser.js';
import { bestFits, type Fit, type Observation } from './best-fits.js';
import { humanPrior, logOddsOf, USUAL_SHARE } from './log-odds.js';

/** A part of a recording that sounds AI-generated, and stands out from the rest. */
export interface Contrast extends AudioWindow {
  /** How likely it is AI-generated, 0..1: that of its clearest windows. */
  readonly score: number;
  /** How far its clearest windows lie above nine tenths of the recording, or of what lies outside such stretches, in log-odds. */
  readonly strength: number;
}

/**
 * Evidence is how far a stretch lies above what is usual in its recording, and a share of how far it lies above even odds: a human
 * voice among others that are still more human is nothing.
 */
const SHARE_OF_LOG_ODDS = 0.3;
/** For the clearest windows of a stretch against all windows. */
const MIN_EVIDENCE = 4.2;
/** For all of a stretch against the windows outside: finds stretches of more than a tenth of the recording. */
const MIN_EVIDENCE_THROUGHOUT = 4.4;
/** How far the mean of a stretch lies at least above the median of the windows outside all stretches. */
const MIN_ABOVE_OTHERS = 2;
/** Stretches that are closer together are one. */
const GAP_S = 1;
/** Observations are fitted in groups of touching windows, up to this number. */
const MOST_IN_GROUP = 60;

/** The stretches that stand out, in the order of the recording. */
export function findContrasts({
  windows,
  closerWindows = [],
}: Pick<Analysis, 'windows' | 'closerWindows'>): Contrast[] {
  // Without a second look nothing disagrees.
  if (closerWindows.length === 0) return [];
  const logOdds = windows.map(logOddsOf);
  const all = withPrior(logOdds);
  const centre = all[Math.floor(all.length / 2)] as number;
  const observations = observe(windows, closerWindows, centre);
  const fits = groupsOf(observations).flatMap(bestFits);
  const clear = clearOf(fits, windows, logOdds, { centre, all });
  const lastS = observations.reduce((last, { endS }) => Math.max(last, endS), 0);
  return merged(standingOut(clear, windows, logOdds, centre)).map(
    ({ startS, endS, clearest, usual }): Contrast => ({
      startS,
      endS: Math.min(endS, lastS),
      score: 1 / (1 + Math.exp(-(centre + clearest))),
      strength: centre + clearest - usual,
    }),
  );
}

/** A fit with the usual log-odds of what it stands out from. */
interface ClearFit extends Fit {
  readonly usual: number;
}

const withPrior = (logOdds: readonly number[]): number[] => [...logOdds, ...humanPrior].sort((a, b) => a - b);

const usualOf = (sorted: readonly number[]): number =>
  sorted[Math.floor(USUAL_SHARE * sorted.length)] as number;

/** The windows of the second look, and windows of the first where it did not look. */
function observe(
  windows: readonly ScoredWindow[],
  closerWindows: readonly ScoredWindow[],
  centre: number,
): Observation[] {
  let next = 0;
  const isSeenCloser = ({ startS, endS }: AudioWindow): boolean => {
    while ((closerWindows[next]?.endS ?? Number.POSITIVE_INFINITY) <= startS) next++;
    return (closerWindows[next]?.startS ?? Number.POSITIVE_INFINITY) < endS;
  };
  return [...windows.filter((window) => !isSeenCloser(window)), ...closerWindows]
    .map((window) => ({ startS: window.startS, endS: window.endS, above: logOddsOf(window) - centre }))
    .sort((a, b) => a.startS - b.startS);
}

function groupsOf(observations: readonly Observation[]): Observation[][] {
  const groups: Observation[][] = [];
  let endS = Number.NEGATIVE_INFINITY;
  for (const observation of observations) {
    const group = groups.at(-1);
    if (group !== undefined && observation.startS <= endS && group.length < MOST_IN_GROUP)
      group.push(observation);
    else groups.push([observation]);
    endS = Math.max(endS, observation.endS);
  }
  return groups;
}

/** The fits with enough evidence. Each brings in all fits before it, which are stronger. */
function clearOf(
  fits: readonly Fit[],
  windows: readonly ScoredWindow[],
  logOdds: readonly number[],
  { centre, all }: { readonly centre: number; readonly all: readonly number[] },
): ClearFit[] {
  const usual = usualOf(all);
  const byMean = fits.toSorted((a, b) => b.mean - a.mean);
  // In order, and without windows of the fits so far.
  const outside = [...all];
  const isOutside = windows.map(() => true);
  const evidence = (above: number, than: number): number => (1 + SHARE_OF_LOG_ODDS) * (centre + above) - than;
  let throughout = 0;
  let usualOutside = usual;
  for (const [i, fit] of byMean.entries()) {
    for (const at of touchedBy(fit, windows)) {
      if (isOutside[at])
        outside.splice(
          placeIn(outside, (value) => value >= (logOdds[at] as number)),
          1,
        );
      isOutside[at] = false;
    }
    if (evidence(fit.mean, usualOf(outside)) < MIN_EVIDENCE_THROUGHOUT) continue;
    throughout = i + 1;
    usualOutside = Math.min(usual, usualOf(outside));
  }
  return byMean
    .map((fit, i) => ({ ...fit, usual: i < throughout ? usualOutside : usual }))
    .filter(({ clearest }, i) => i < throughout || evidence(clearest, usual) >= MIN_EVIDENCE)
    .sort((a, b) => a.startS - b.startS);
}

/** The first place in an ordered list from which on `holds` does. */
function placeIn<Item>(ordered: readonly Item[], holds: (item: Item) => boolean): number {
  let [low, high] = [0, ordered.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(ordered[middle] as Item)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** The places of the windows that overlap a part. Windows begin and end in their order. */
function touchedBy({ startS, endS }: AudioWindow, windows: readonly AudioWindow[]): number[] {
  const touched: number[] = [];
  for (let at = placeIn(windows, (window) => window.endS > startS); at < windows.length; at++) {
    if ((windows[at] as AudioWindow).startS >= endS) break;
    touched.push(at);
  }
  return touched;
}

/** A recording that is generated throughout has no others, and the prior is not it. */
function standingOut(
  fits: readonly ClearFit[],
  windows: readonly ScoredWindow[],
  logOdds: readonly number[],
  centre: number,
): ClearFit[] {
  const isInside = windows.map(() => false);
  for (const fit of fits) {
    for (const at of touchedBy(fit, windows)) {
      const { startS, endS } = windows[at] as ScoredWindow;
      const insideS = Math.min(endS, fit.endS) - Math.max(startS, fit.startS);
      if (2 * insideS >= endS - startS) isInside[at] = true;
    }
  }
  const others = logOdds.filter((_, at) => !isInside[at]).sort((a, b) => a - b);
  const median = others[Math.floor(others.length / 2)] ?? Number.POSITIVE_INFINITY;
  return fits.filter(({ mean }) => centre + mean - median >= MIN_ABOVE_OTHERS);
}

function merged(fits: readonly ClearFit[]): ClearFit[] {
  const all: ClearFit[] = [];
  for (const fit of fits) {
    const last = all.at(-1);
    if (last === undefined || fit.startS - last.endS > GAP_S) all.push(fit);
    else
      all[all.length - 1] = {
        startS: last.startS,
        endS: Math.max(last.endS, fit.endS),
        mean: Math.max(last.mean, fit.mean),
        clearest: Math.max(last.clearest, fit.clearest),
        usual: Math.min(last.usual, fit.usual),
      };
  }
  return all;
}
