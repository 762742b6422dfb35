// SPDX-License-Identifier: Apache-2.0
import { probit } from '../evaluation/probit.js';
import type { Findings } from '../evaluation/report.js';
import { type Axis, Frame, HEIGHT, percent, percentTick, WIDTH } from './frame.js';
import { type Drawing, dot, label, line, path } from './svg.js';
import { errorNames } from './wording.js';

const rates = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 0.95];

/** On the scale of the normal distribution's quantiles, where the curve of two normal distributions is straight. */
function rateAxis(title: string, lowest: number, highest: number): Axis {
  const [from, to] = [probit(lowest), probit(highest)];
  const ticks = rates
    .filter((rate) => rate >= lowest && rate <= highest)
    .map((rate) => ({ value: rate, text: percentTick(rate) }));
  return {
    title,
    ticks,
    place: (rate) => (probit(Math.min(1 - 1e-7, Math.max(1e-7, rate))) - from) / (to - from),
  };
}

/**
 * The detection error trade-off (A. Martin et al., "The DET Curve in Assessment of Detection Task Performance", 1997), with the
 * equal error rate and the threshold; undefined where a class has no sample.
 */
export function detPlot({ task, counts, overall, at_threshold, curve }: Findings): Drawing | undefined {
  const { eer } = overall;
  if (eer === null) return undefined;
  // Below one error of all samples there is nothing to see.
  const finest = 1 / Math.max(counts.positive, counts.negative);
  const lowest =
    rates.findLast((rate) => rate <= Math.max(finest, rates[0] as number)) ?? (rates[0] as number);
  const highest = eer.value > 0.3 ? 0.95 : 0.6;
  const names = errorNames[task];
  const frame = new Frame(
    rateAxis(names.fpr, lowest, highest),
    rateAxis(names.fnr, Math.min(lowest, highest), highest),
  );
  const steps: [number, number][] = [];
  for (const { fpr, fnr } of curve) {
    const previous = steps.at(-1);
    if (previous) steps.push([frame.x(fpr), previous[1]]);
    steps.push([frame.x(fpr), frame.y(fnr)]);
  }
  const [low, high] = eer.interval_95;
  const eerText = `EER ${percent(eer.value)} (${percent(low)} to ${percent(high)})`;
  const { fpr, fnr, threshold } = at_threshold;
  const thresholdText = `threshold ${threshold}`;
  const content = [
    line(frame.x(lowest), frame.y(lowest), frame.x(highest), frame.y(highest), 'guide'),
    path(steps, 'line'),
    dot(frame.x(eer.value), frame.y(eer.value), 'mark', eerText, 5),
    label(frame.x(eer.value) + 10, frame.y(eer.value) - 8, eerText),
  ];
  if (fpr && fnr) {
    const [x, y] = [frame.x(fpr.value), frame.y(fnr.value)];
    const hint = `${thresholdText}: ${percent(fpr.value)}, ${percent(fnr.value)}`;
    content.push(
      `<rect x="${x - 4}" y="${y - 4}" width="8" height="8" class="mark"><title>${hint}</title></rect>`,
    );
    // Where both marks lie close together the upper label stays readable.
    const isBelow = y >= frame.y(eer.value);
    content.push(label(x + 10, isBelow ? y + 18 : y - 24, thresholdText, 'start', 'muted'));
  }
  return {
    name: 'det',
    title: 'Detection error trade-off',
    width: WIDTH,
    height: HEIGHT,
    content: frame.around(content.join('')),
  };
}
