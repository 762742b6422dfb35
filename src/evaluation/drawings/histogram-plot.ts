// SPDX-License-Identifier: Apache-2.0
import type { Findings } from '../figures/report.js';
import { Frame, HEIGHT, legend, linearAxis, percentTick, WIDTH } from './frame.js';
import { type Drawing, line } from './svg.js';
import { scoreNames } from './wording.js';

/** Ends of the axis that divide into five readable steps. */
const ends = [0.05, 0.1, 0.2, 0.25, 0.5, 1];

/** The spread of each class's scores, as shares of the class, so that a rare class is as visible as a frequent one. */
export function histogramPlot({ task, classes, counts, histogram, at_threshold }: Findings): Drawing {
  const kinds = ['negative', 'positive'] as const;
  const sharesOf = (kind: 'positive' | 'negative') =>
    histogram[kind].map((count) => count / Math.max(1, counts[kind]));
  const highest = Math.max(...kinds.flatMap(sharesOf));
  const end = ends.find((candidate) => candidate >= highest) ?? 1;
  const frame = new Frame(
    linearAxis(scoreNames[task], 1, (value) => value.toFixed(1)),
    linearAxis('share of the class', end, percentTick),
  );
  const outlines = kinds.map((kind) => {
    const shares = sharesOf(kind);
    const width = 1 / shares.length;
    const points = shares.flatMap((share, i) => [
      [frame.x(i * width), frame.y(share)],
      [frame.x((i + 1) * width), frame.y(share)],
    ]);
    const closed = [[frame.x(0), frame.y(0)], ...points, [frame.x(1), frame.y(0)]];
    const text = closed.map(([x = 0, y = 0]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(' ');
    return `<polygon points="${text}" class="area ${kind}"/>`;
  });
  const { threshold } = at_threshold;
  const guide = line(frame.x(threshold), frame.y(0), frame.x(threshold), frame.y(end), 'guide');
  const names = legend(kinds.map((kind) => [kind, `${classes[kind]} (${counts[kind]})`] as const));
  return {
    name: 'scores',
    title: 'Scores of the two classes',
    width: WIDTH,
    height: HEIGHT,
    content: frame.around(outlines.join('') + guide, names),
  };
}
