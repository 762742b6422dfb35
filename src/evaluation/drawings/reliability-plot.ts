// SPDX-License-Identifier: Apache-2.0
import type { Findings } from '../figures/report.js';
import { Frame, HEIGHT, linearAxis, percent, percentTick, WIDTH } from './frame.js';
import { type Drawing, dot, label, line, path } from './svg.js';
import { scoreNames } from './wording.js';

/** Whether a score is a probability: the share of positives among samples with about the same score, with its interval. */
export function reliabilityPlot({ task, classes, calibration }: Findings): Drawing {
  const frame = new Frame(
    linearAxis(scoreNames[task], 1, (value) => value.toFixed(1)),
    linearAxis(`share of ${classes.positive}`, 1, percentTick),
  );
  const points = calibration.bins.map(
    (bin) => [frame.x(bin.mean_score), frame.y(bin.positive_share)] as const,
  );
  const marks = calibration.bins.map(({ mean_score, positive_share, interval_95: [low, high], count }) => {
    const x = frame.x(mean_score);
    const hint = `${count} with a mean score of ${mean_score.toFixed(3)}: ${percent(positive_share)} are ${classes.positive}`;
    return line(x, frame.y(low), x, frame.y(high), 'line') + dot(x, frame.y(positive_share), 'mark', hint);
  });
  const diagonal = line(frame.x(0), frame.y(0), frame.x(1), frame.y(1), 'guide');
  const error = `expected calibration error ${percent(calibration.expected_calibration_error)}`;
  return {
    name: 'reliability',
    title: 'Reliability of the scores',
    width: WIDTH,
    height: HEIGHT,
    content: frame.around(
      [diagonal, path(points, 'guide'), ...marks].join(''),
      label(frame.x(0), 49, error, 'start', 'muted'),
    ),
  };
}
