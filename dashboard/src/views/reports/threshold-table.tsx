// SPDX-License-Identifier: Apache-2.0
import { errorNames } from '../../logic/error-rates.js';
import { percent, percentSpan, type Report } from '../../logic/report.js';
import { Table } from '../../parts/table.js';

/** The trade-offs of other thresholds. */
export function ThresholdTable({ report }: { readonly report: Report }) {
  const { thresholds, thresholds_not_given: missing, task, at_threshold } = report;
  if (thresholds.length === 0) return null;
  const names = errorNames[task];
  const notGiven = [
    ...missing.targets.map(({ target_fpr, why_not }) => [`${percent(target_fpr)} ${names.fpr}`, why_not]),
    [`intervals of ${names.fpr}`, missing.fpr_intervals_why_not],
    [`intervals of ${names.fnr}`, missing.fnr_intervals_why_not],
  ].filter(([, why]) => why !== null);
  return (
    <section class="card" aria-label="Thresholds">
      <h2>Thresholds</h2>
      <p class="soft">
        Thresholds for a share of false positives are fitted to these clips, and do somewhat worse on others.
        Intervals are over generators and speakers.
      </p>
      <Table
        label="Error rates by threshold"
        columns={[
          { number: 'Threshold' },
          'Found for',
          { number: names.fpr },
          '95 % interval',
          { number: names.fnr },
          '95 % interval',
        ]}
      >
        {thresholds.map(({ threshold, target_fpr, fpr, fnr }, i) => (
          <tr key={i} class={threshold === at_threshold.threshold ? 'chosen' : undefined}>
            <td class="number">{Number(threshold.toFixed(4))}</td>
            <td>
              {target_fpr !== null
                ? `${percent(target_fpr)} ${names.fpr}`
                : threshold === at_threshold.threshold
                  ? 'the threshold of the report'
                  : ''}
            </td>
            <td class="number">{percent(fpr.value)}</td>
            <td>{fpr.interval_95_units && percentSpan(fpr.interval_95_units)}</td>
            <td class="number">{percent(fnr.value)}</td>
            <td>{fnr.interval_95_units && percentSpan(fnr.interval_95_units)}</td>
          </tr>
        ))}
      </Table>
      {notGiven.map(([what, why]) => (
        <p class="soft" key={what}>
          Not given: {what} ({why}).
        </p>
      ))}
    </section>
  );
}
