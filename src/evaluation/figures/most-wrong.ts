// SPDX-License-Identifier: Apache-2.0
import type { WrongSample } from './report.js';
import { classNames, type Sample, type Task } from './sample.js';
import { rounded } from './share.js';

/** Per class. */
const MAX_LISTED = 20;

/** From the threshold, as a share of that side of the scale: 0 to 1. */
const distanceOf = (score: number, threshold: number): number => {
  const side = score < threshold ? threshold : 1 - threshold;
  return side === 0 ? 0 : Math.abs(score - threshold) / side;
};

/** The wrong verdicts with the scores farthest from the threshold, at most 20 of each class, the farthest first. */
export function mostWrong(task: Task, samples: readonly Sample[], threshold: number): WrongSample[] {
  const wrong = samples
    .filter(({ score, isPositive }) => score >= threshold !== isPositive)
    .map((sample) => ({ sample, distance: distanceOf(sample.score, threshold) }))
    .sort((a, b) => b.distance - a.distance || (a.sample.name < b.sample.name ? -1 : 1));
  const ofClass = (positive: boolean) =>
    wrong.filter(({ sample }) => sample.isPositive === positive).slice(0, MAX_LISTED);
  const listed = new Set([...ofClass(true), ...ofClass(false)]);
  return wrong
    .filter((entry) => listed.has(entry))
    .map(({ sample, distance }) => ({
      name: sample.name,
      label: sample.isPositive ? classNames[task].positive : classNames[task].negative,
      score: sample.score,
      distance: rounded(distance),
      confidence: sample.confidence ?? null,
      reason: sample.reason ?? null,
      system: sample.columns.system || null,
      source: sample.columns.source || null,
    }));
}
