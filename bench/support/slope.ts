// SPDX-License-Identifier: Apache-2.0

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Slope {
  readonly perX: number;
  /** Of a 95 % interval. */
  readonly low: number;
  readonly high: number;
}

const resamples = 2000;

function fit(points: readonly Point[]): { slope: number; intercept: number } {
  const meanX = points.reduce((sum, { x }) => sum + x, 0) / points.length;
  const meanY = points.reduce((sum, { y }) => sum + y, 0) / points.length;
  const covariance = points.reduce((sum, { x, y }) => sum + (x - meanX) * (y - meanY), 0);
  const variance = points.reduce((sum, { x }) => sum + (x - meanX) ** 2, 0);
  const slope = covariance / variance;
  return { slope, intercept: meanY - slope * meanX };
}

/**
 * The slope of a line through samples in the order of time, with its confidence interval. Neighbouring samples of memory
 * are alike, so the textbook interval would be far too narrow: the residuals are resampled in blocks.
 */
export function slopeOf(points: readonly Point[], blockLength: number, random: () => number): Slope {
  const { slope, intercept } = fit(points);
  const residuals = points.map(({ x, y }) => y - intercept - slope * x);
  const length = Math.max(1, Math.min(blockLength, Math.floor(points.length / 4)));
  const slopes = Array.from({ length: resamples }, () => {
    let from = 0;
    const drawn = points.map(({ x }, i) => {
      if (i % length === 0) from = Math.floor(random() * (points.length - length + 1));
      return { x, y: intercept + slope * x + (residuals[from + (i % length)] as number) };
    });
    return fit(drawn).slope;
  }).sort((a, b) => a - b);
  const at = (share: number): number => slopes[Math.floor(share * (resamples - 1))] as number;
  return { perX: slope, low: at(0.025), high: at(0.975) };
}
