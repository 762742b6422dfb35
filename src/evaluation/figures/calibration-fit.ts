// SPDX-License-Identifier: Apache-2.0
//
// The scale and the bias of a detector, by the rule of training/judge/calibrate_detector.py: the two must not drift apart.
import { equalErrorPoint } from './figures.js';
import { groupedBy } from './grouped.js';
import { ListError } from './labelled-list.js';
import { type ErrorRates, RankedScores } from './ranked-scores.js';
import { weightedErrors } from './weighted-errors.js';

/** score = sigmoid(scale * x + bias) */
export interface ScaleAndBias {
  readonly scale: number;
  readonly bias: number;
}

/** A clip as a detector heard it, before any calibration. */
export interface UncalibratedClip {
  readonly isPositive: boolean;
  /** The system of a generated clip, the source of a human one. */
  readonly group: string;
  /** Log-odds of each input of each window; at least one of each. */
  readonly windows: readonly (readonly number[])[];
}

/** The calibrated threshold. */
const THRESHOLD = 0.5;
/** A group of fewer clips would weigh as much as one of hundreds. */
const FEW_CLIPS = 5;
const NEWTON_STEPS = 50;
const BISECTIONS = 60;
const WIDEST_USUAL_BIAS = 20;
const ECE_BINS = 10;
const DECIMALS = 1e4;

const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));
const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;
const rounded = (value: number): number => Math.round(value * DECIMALS) / DECIMALS;

/** The score of a clip, 0..1, as the server takes it: the mean over its windows, and within one over its inputs. */
export function calibratedScore({ windows }: UncalibratedClip, { scale, bias }: ScaleAndBias): number {
  return mean(windows.map((inputs) => mean(inputs.map((x) => sigmoid(scale * x + bias)))));
}

/** The weight of each clip: half for each class, and within it the same for each group. They sum to 1. */
export function bothClassesAlike(clips: readonly UncalibratedClip[]): Float64Array {
  const weights = new Float64Array(clips.length);
  for (const isPositive of [false, true]) {
    const own = [...clips.keys()].filter((i) => clips[i]?.isPositive === isPositive);
    const groups = [...groupedBy(own, (i) => clips[i]?.group).values()];
    const few = groups.filter((members) => members.length < FEW_CLIPS).flat();
    const alike = groups.filter((members) => members.length >= FEW_CLIPS);
    if (few.length > 0) alike.push(few);
    for (const members of alike) {
      for (const i of members) weights[i] = 0.5 / alike.length / members.length;
    }
  }
  return weights;
}

/**
 * The calibration under which 0.5 is the equal-error point of the clips' scores, classes and groups alike, with the scale of
 * Platt's logistic regression on each clip's mean log-odds.
 * @param isFalling whether the present calibration takes a high number for a human voice
 * @returns both with four decimals
 * @throws ListError if a class has no clip, if the scores do not tell the classes apart, or if the classes do not overlap
 */
export function fitCalibration(clips: readonly UncalibratedClip[], isFalling: boolean): ScaleAndBias {
  const isPositive = clips.map((clip) => clip.isPositive);
  for (const [wanted, label] of [
    [true, 'spoof'],
    [false, 'bonafide'],
  ] as const) {
    if (isPositive.includes(wanted)) continue;
    throw new ListError(`The list has no scored clips with the label ${label}; both classes are needed.`);
  }
  const weights = bothClassesAlike(clips);
  const means = clips.map(({ windows }) => mean(windows.map(mean)));
  refuseWithoutErrors(means, isPositive, isFalling);
  const scale = plattScale(means, isPositive, weights);
  if (!Number.isFinite(scale) || (isFalling ? rounded(scale) >= 0 : rounded(scale) <= 0)) {
    throw new ListError(
      `The scores do not tell the classes apart: AI-generated clips do not score higher than human ones (the scale would be ${scale.toFixed(4)}). ` +
        'If the classes are swapped, negate the scale in the manifest, or import again with the other --spoof-index.',
    );
  }
  const largest = clips
    .flatMap(({ windows }) => windows.flat())
    .reduce((most, x) => Math.max(most, Math.abs(x)), 0);
  let high = Math.max(WIDEST_USUAL_BIAS, Math.abs(scale) * largest + 1);
  let low = -high;
  for (let round = 0; round < BISECTIONS; round++) {
    const bias = (low + high) / 2;
    const scores = clips.map((clip) => calibratedScore(clip, { scale, bias }));
    if (highestHuman(new RankedScores(scores, isPositive).errorRates(weights) as ErrorRates) < THRESHOLD) {
      low = bias;
    } else {
      high = bias;
    }
  }
  return { scale: rounded(scale), bias: rounded((low + high) / 2) };
}

/** Of classes that are apart the likelihood has no maximum: the steeper, the better. */
function refuseWithoutErrors(
  means: readonly number[],
  isPositive: readonly boolean[],
  isFalling: boolean,
): void {
  const ofClass = (wanted: boolean): number[] =>
    means.flatMap((x, i) => (isPositive[i] === wanted ? [isFalling ? -x : x] : []));
  const highest = ofClass(false).reduce((a, b) => Math.max(a, b));
  const lowest = ofClass(true).reduce((a, b) => Math.min(a, b));
  if (highest > lowest || (highest === lowest && means.every((x) => x === means[0]))) return;
  throw new ListError(
    'Every AI-generated clip scores higher than every human one, so the list cannot tell how steep scores should be. ' +
      'Add clips that are harder: of more systems and sources, through codecs, with noise.',
  );
}

function plattScale(means: readonly number[], isPositive: readonly boolean[], weights: Float64Array): number {
  const centre = mean(means);
  const spread = Math.sqrt(mean(means.map((x) => (x - centre) ** 2)));
  // Newton's steps go astray from a start that is far away.
  const xs = means.map((x) => (x - centre) / spread);
  let [scale, bias] = [1, 0];
  for (let step = 0; step < NEWTON_STEPS; step++) {
    // Keeps the matrix regular.
    let [xx, x1, one, gx, g1] = [1e-9, 0, 1e-9, 0, 0];
    xs.forEach((x, i) => {
      const weight = 2 * (weights[i] as number);
      const predicted = sigmoid(scale * x + bias);
      const miss = weight * (predicted - (isPositive[i] ? 1 : 0));
      const curvature = weight * predicted * (1 - predicted);
      gx += miss * x;
      g1 += miss;
      xx += curvature * x * x;
      x1 += curvature * x;
      one += curvature;
    });
    const determinant = xx * one - x1 * x1;
    scale -= (one * gx - x1 * g1) / determinant;
    bias -= (xx * g1 - x1 * gx) / determinant;
  }
  return scale / spread;
}

/** The highest score that counts as human at the threshold of equal error rates. */
function highestHuman({ thresholds, falsePositive, falseNegative }: ErrorRates): number {
  const after = falseNegative.findIndex((rate, k) => rate >= (falsePositive[k] as number));
  return thresholds[after - 1] as number;
}

/** Shares from 0 to 1, with each clip counting as much as its weight. */
export interface WeightedErrors {
  /** At 0.5. */
  readonly fpr: number;
  /** At 0.5. */
  readonly fnr: number;
  readonly eer: number;
  readonly expectedCalibrationError: number;
}

/** @param weights sum to 1 */
export function weightedFigures(
  scores: readonly number[],
  isPositive: readonly boolean[],
  weights: Float64Array,
): WeightedErrors {
  const wrong = scores.map((score, i) => score >= THRESHOLD !== isPositive[i]);
  const gaps = new Float64Array(ECE_BINS);
  scores.forEach((score, i) => {
    const bin = Math.min(ECE_BINS - 1, Math.floor(score * ECE_BINS));
    gaps[bin] = (gaps[bin] as number) + (weights[i] as number) * (score - (isPositive[i] ? 1 : 0));
  });
  const rates = new RankedScores(scores, isPositive).errorRates(weights) as ErrorRates;
  return {
    fpr: weightedErrors(weights, wrong, isPositive, false) as number,
    fnr: weightedErrors(weights, wrong, isPositive, true) as number,
    eer: equalErrorPoint(rates).rate,
    expectedCalibrationError: gaps.reduce((sum, gap) => sum + Math.abs(gap), 0),
  };
}
