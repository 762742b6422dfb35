// SPDX-License-Identifier: Apache-2.0
//
// Axes of detection error trade-offs: error rates on the scale of the normal distribution's quantiles, where the curve of two
// normal distributions is straight (A. Martin et al., "The DET Curve in Assessment of Detection Task Performance", 1997).
import { normalQuantile } from './normal-quantile.js';

export interface Tick {
  readonly value: number;
  readonly text: string;
}

export interface Scale {
  readonly ticks: readonly Tick[];
  /** From a value to its place: 0 at the beginning of the axis, 1 at its end. */
  place(value: number): number;
}

const rates = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 0.95];
/** Nearer than this, as a share of the axis, the texts of two ticks would touch. */
const TICK_DISTANCE = 0.11;
const NEAREST_TO_END = 1e-7;

export function rateScale(lowest: number, highest: number): Scale {
  const [from, to] = [normalQuantile(lowest), normalQuantile(highest)];
  const place = (rate: number): number =>
    (normalQuantile(Math.min(1 - NEAREST_TO_END, Math.max(NEAREST_TO_END, rate))) - from) / (to - from);
  const ticks: Tick[] = [];
  for (const value of rates.filter((rate) => rate >= lowest && rate <= highest)) {
    const before = ticks.at(-1);
    if (before !== undefined && place(value) - place(before.value) < TICK_DISTANCE) continue;
    ticks.push({ value, text: `${Number((100 * value).toPrecision(3))} %` });
  }
  return { ticks, place };
}

export interface Rates {
  readonly fpr: number;
  readonly fnr: number;
}

/** The ends of both axes, chosen to show the important part of a curve. @param eer its equal error rate */
export function rateRange(curve: readonly Rates[], eer: number): readonly [lowest: number, highest: number] {
  const highest = eer > 0.3 ? 0.95 : 0.6;
  let reached = 0.1;
  for (const { fpr, fnr } of curve) {
    if (Math.max(fpr, fnr) <= highest) reached = Math.min(reached, fpr, fnr);
  }
  return [rates.findLast((rate) => rate <= reached) ?? (rates[0] as number), highest];
}

/** A scale from 0 to `end` with five steps. */
export function linearScale(end: number, text: (value: number) => string): Scale {
  const ticks = Array.from({ length: 6 }, (_, i) => ({ value: (i * end) / 5, text: text((i * end) / 5) }));
  return { ticks, place: (value) => value / end };
}
