// SPDX-License-Identifier: Apache-2.0
import { probit } from '../figures/probit.js';
import type { Findings } from '../figures/report.js';
import { type Axis, Frame, HEIGHT, percent, percentTick, type Tick, WIDTH } from './frame.js';
import { type Drawing, dot, label, line, path } from './svg.js';
import { errorNames } from './wording.js';

const rates = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 0.95];

/** Nearer than this, as a share of the axis, the texts of two ticks would touch. */
const TICK_DISTANCE = 0.11;

/** On the scale of the normal distribution's quantiles, on which the curve of two normal distributions is straight. */
function rateAxis(title: string, lowest: number, highest: number): Axis {
  const [from, to] = [probit(lowest), probit(highest)];
  const place = (rate: number): number =>
    (probit(Math.min(1 - 1e-7, Math.max(1e-7, rate))) - from) / (to - from);
  const ticks: Tick[] = [];
  for (const value of rates.filter((rate) => rate >= lowest && rate <= highest)) {
    const previous = ticks.at(-1);
    if (previous && place(value) - place(previous.value) < TICK_DISTANCE) continue;
    ticks.push({ value, text: percentTick(value) });
  }
  return { title, ticks, place };
}

/** The beginning of both axes: the lowest rate that the curve reaches before it leaves them at their other end. */
function lowestRate(curve: Findings['curve'], highest: number): number {
  const reached = curve.flatMap(({ fpr, fnr }) =>
    Math.max(fpr, fnr) <= highest ? [Math.min(fpr, fnr)] : [],
  );
  return rates.findLast((rate) => rate <= Math.min(0.1, ...reached)) ?? (rates[0] as number);
}

/**
 * The detection error trade-off (A. Martin et al., "The DET Curve in Assessment of Detection Task Performance", 1997), with the
 * equal error rate and the threshold; undefined if a class has no sample.
 */
export function detPlot({ task, overall, at_threshold, curve }: Findings): Drawing | undefined {
  const { eer } = overall;
  if (eer === null) return undefined;
  const highest = eer.value > 0.3 ? 0.95 : 0.6;
  const lowest = lowestRate(curve, highest);
  const names = errorNames[task];
  const frame = new Frame(rateAxis(names.fpr, lowest, highest), rateAxis(names.fnr, lowest, highest));
  const steps: [number, number][] = [];
  for (const { fpr, fnr } of curve) {
    const previous = steps.at(-1);
    if (previous) steps.push([frame.x(fpr), previous[1]]);
    steps.push([frame.x(fpr), frame.y(fnr)]);
  }
  const [low, high] = eer.interval_95;
  const eerText = `EER ${percent(eer.value)} (${percent(low)} to ${percent(high)})`;
  const { fpr, fnr, threshold } = at_threshold;
  /** A point of the curve, with its name if there is room and no curve; at the edge if it lies beyond. */
  const mark = (fprAt: number, fnrAt: number, text: string): string[] => {
    const within = (rate: number): number => Math.min(highest, Math.max(lowest, rate));
    const [x, y] = [frame.x(within(fprAt)), frame.y(within(fnrAt))];
    const hint = `${text}: ${percent(fprAt)}, ${percent(fnrAt)}`;
    const name = x > WIDTH / 2 ? label(x - 10, y + 18, text, 'end') : label(x + 10, y - 8, text);
    return [dot(x, y, 'mark', hint, 5), name];
  };
  const content = [
    line(frame.x(lowest), frame.y(lowest), frame.x(highest), frame.y(highest), 'guide'),
    path(steps, 'line'),
    ...mark(eer.value, eer.value, eerText),
    ...(fpr && fnr ? mark(fpr.value, fnr.value, `threshold ${threshold}`) : []),
  ];
  return {
    name: 'det',
    title: 'Detection error trade-off',
    width: WIDTH,
    height: HEIGHT,
    content: frame.around(content.join('')),
  };
}
