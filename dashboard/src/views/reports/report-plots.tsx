// SPDX-License-Identifier: Apache-2.0
import { errorNames } from '../../logic/error-rates.js';
import { linearScale } from '../../logic/rate-scale.js';
import { percent, type Report, scoreNames } from '../../logic/report.js';
import { DetCurve } from '../../parts/plots/det-curve.js';
import { Plot, pointsOf } from '../../parts/plots/plot.js';

const oneDigit = (value: number): string => value.toFixed(1);
const percentTick = (share: number): string => `${Number((100 * share).toPrecision(3))} %`;
/** Ends of an axis that divide into five readable steps. */
const ends = [0.05, 0.1, 0.2, 0.25, 0.5, 1];

/** Drawings of all samples together. */
export function ReportPlots({ report }: { readonly report: Report }) {
  return (
    <section class="card" aria-label="Plots">
      <h2>Plots</h2>
      <div class="plots">
        <Trade report={report} />
        <Scores report={report} />
        <Reliability report={report} />
      </div>
    </section>
  );
}

export function Trade({ report: { overall, at_threshold, curve, task } }: { readonly report: Report }) {
  const { eer } = overall;
  if (eer === null || curve.length === 0)
    return <p>One of the classes has no samples: there is no trade-off.</p>;
  const { fpr, fnr, threshold } = at_threshold;
  const marks = [
    { name: `EER ${percent(eer.value)}`, fpr: eer.value, fnr: eer.value },
    ...(fpr && fnr ? [{ name: `threshold ${threshold}`, fpr: fpr.value, fnr: fnr.value }] : []),
  ];
  return <DetCurve curve={curve} eer={eer.value} marks={marks} names={errorNames[task]} />;
}

export function Scores({
  report: { histogram, counts, classes, task, at_threshold },
}: {
  readonly report: Report;
}) {
  const sharesOf = (kind: 'positive' | 'negative'): number[] =>
    histogram[kind].map((count) => count / Math.max(1, counts[kind]));
  const kinds = (['negative', 'positive'] as const).map((kind) => ({ kind, shares: sharesOf(kind) }));
  const highest = Math.max(0, ...kinds.flatMap(({ shares }) => shares));
  const end = ends.find((candidate) => candidate >= highest) ?? 1;
  const { threshold } = at_threshold;
  return (
    <Plot
      title="Scores of the two classes"
      legend={{
        negative: `${classes.negative} (${counts.negative})`,
        positive: `${classes.positive} (${counts.positive})`,
      }}
      description={`The threshold is ${threshold}. The table of thresholds has the error rates`}
      across={{ title: scoreNames[task], scale: linearScale(1, oneDigit) }}
      up={{ title: 'share of the class', scale: linearScale(end, percentTick) }}
    >
      {({ x, y }) => (
        <>
          {kinds.map(({ kind, shares }) => {
            const width = 1 / Math.max(1, shares.length);
            const tops = shares.flatMap((share, i): [number, number][] => [
              [x(i * width), y(share)],
              [x((i + 1) * width), y(share)],
            ]);
            return (
              <polygon key={kind} class={kind} points={pointsOf([[x(0), y(0)], ...tops, [x(1), y(0)]])} />
            );
          })}
          <line class="guide" x1={x(threshold)} x2={x(threshold)} y1={y(0)} y2={y(end)} />
        </>
      )}
    </Plot>
  );
}

export function Reliability({ report: { calibration, classes, task } }: { readonly report: Report }) {
  const { bins, expected_calibration_error: error, brier, log_loss } = calibration;
  return (
    <div>
      <Plot
        title="Reliability of the scores"
        description={`Expected calibration error ${percent(error)}`}
        across={{ title: scoreNames[task], scale: linearScale(1, oneDigit) }}
        up={{ title: `share of ${classes.positive}`, scale: linearScale(1, percentTick) }}
      >
        {({ x, y }) => (
          <>
            <line class="guide" x1={x(0)} y1={y(0)} x2={x(1)} y2={y(1)} />
            <polyline
              class="guide"
              points={pointsOf(bins.map((bin) => [x(bin.mean_score), y(bin.positive_share)]))}
            />
            {bins.map(({ from, mean_score, positive_share, interval_95: [low, high], count }) => (
              <g key={from}>
                <line class="whisker" x1={x(mean_score)} x2={x(mean_score)} y1={y(low)} y2={y(high)} />
                <circle class="mark" cx={x(mean_score)} cy={y(positive_share)} r={4}>
                  <title>{`${count} with a mean score of ${mean_score.toFixed(3)}: ${percent(positive_share)} are ${classes.positive}`}</title>
                </circle>
              </g>
            ))}
          </>
        )}
      </Plot>
      <p class="soft">
        Expected calibration error {percent(error)}, Brier score {brier.toFixed(3)}, log loss{' '}
        {log_loss.toFixed(3)}.
      </p>
    </div>
  );
}
