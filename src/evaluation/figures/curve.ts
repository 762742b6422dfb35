// SPDX-License-Identifier: Apache-2.0
import { probit } from './probit.js';
import type { ErrorRates } from './ranked-scores.js';
import { rounded } from './share.js';

export interface CurvePoint {
  readonly threshold: number;
  readonly fpr: number;
  readonly fnr: number;
}

/** Steps that nobody would see on a curve's probit axes. */
const SMALLEST_STEP = 0.02;
/** Beyond these rates no axis goes. */
const LOWEST_RATE = 1e-4;

const onAxis = (rate: number): number => probit(Math.min(1 - LOWEST_RATE, Math.max(LOWEST_RATE, rate)));

/** The points of the curve that are needed to draw it, by rising threshold, the first and the last among them. */
export function thinned({ thresholds, falsePositive, falseNegative }: ErrorRates): CurvePoint[] {
  const points: CurvePoint[] = [];
  let drawn = { x: Number.NaN, y: Number.NaN };
  thresholds.forEach((threshold, k) => {
    const [fpr, fnr] = [falsePositive[k] as number, falseNegative[k] as number];
    const at = { x: onAxis(fpr), y: onAxis(fnr) };
    const moved = Math.max(Math.abs(at.x - drawn.x), Math.abs(at.y - drawn.y));
    if (moved < SMALLEST_STEP && k < thresholds.length - 1) return;
    drawn = at;
    points.push({ threshold, fpr: rounded(fpr), fnr: rounded(fnr) });
  });
  return points;
}
