// SPDX-License-Identifier: Apache-2.0
import { errorNames } from '../../logic/error-rates.js';
import { type Interval, percent, percentSpan, type Report, rowNames } from '../../logic/report.js';
import { Moment } from '../../parts/moment.js';
import { Name } from '../../parts/name.js';
import { Table } from '../../parts/table.js';

interface Row {
  readonly name: string;
  readonly value: string;
  readonly interval: string;
}

const decimals = (value: number): string => value.toFixed(3);
const decimalSpan = ([low, high]: Interval): string => `${decimals(low)} to ${decimals(high)}`;

const meanInside = (inside: Report['inside_one_source']): { value: number; interval_95: Interval } | null =>
  inside === null || inside.value === null || inside.interval_95 === null
    ? null
    : { value: inside.value, interval_95: inside.interval_95 };

/** Means that are missing, and the reason: too few groups. */
const missingMeans = ({ overall, inside_one_source }: Report) =>
  [
    { mean: 'EER and AUC, systems and sources alike', why: overall.groups_alike_why_not },
    { mean: 'mean AUC inside one source', why: inside_one_source?.why_not ?? null },
  ].flatMap(({ mean, why }) => (why === null ? [] : [{ mean, why }]));

function rowsOf({ overall, at_threshold, inside_one_source, task }: Report): Row[] {
  const { eer, auc, eer_groups_alike, auc_groups_alike, min_dcf } = overall;
  const { accuracy, fpr, fnr } = at_threshold;
  const names = errorNames[task];
  const inPercent = (name: string, figure: { value: number; interval_95: Interval } | null): Row[] =>
    figure === null
      ? []
      : [{ name, value: percent(figure.value), interval: percentSpan(figure.interval_95) }];
  const inDecimals = (name: string, figure: { value: number; interval_95: Interval } | null): Row[] =>
    figure === null
      ? []
      : [{ name, value: decimals(figure.value), interval: decimalSpan(figure.interval_95) }];
  return [
    ...inPercent(names.fpr, fpr && { value: fpr.value, interval_95: fpr.interval_95_units }),
    ...inPercent(names.fnr, fnr && { value: fnr.value, interval_95: fnr.interval_95_units }),
    ...inPercent('correct verdicts', accuracy),
    ...inPercent('equal error rate', eer),
    ...inPercent('equal error rate, systems and sources alike', eer_groups_alike),
    ...inDecimals('AUC', auc),
    ...inDecimals('AUC, systems and sources alike', auc_groups_alike),
    ...(min_dcf ?? []).flatMap((cost) => inDecimals(`minDCF, ${cost.name}`, cost)),
    ...inDecimals('mean AUC inside one source', meanInside(inside_one_source)),
  ];
}

/** The model, the list, and the figures on all of it. */
export function ReportHead({ report, fileName }: { readonly report: Report; readonly fileName: string }) {
  const { model, list, counts, classes, task, threshold_name, at_threshold } = report;
  return (
    <section class="card" aria-label="Figures">
      <h2>
        <Name text={fileName} />
      </h2>
      <dl class="facts">
        <dt>Model</dt>
        <dd>
          <Name text={model.id} />
        </dd>
        <dt>List</dt>
        <dd>
          <Name text={list.file} />: {counts.positive} <Name text={classes.positive} />, {counts.negative}{' '}
          <Name text={classes.negative} />
          {counts.failed > 0 && `, ${counts.failed} without a score`}
        </dd>
        {list.where.length > 0 && (
          <>
            <dt>Rows with</dt>
            <dd>
              <Name text={list.where.join(', ')} />
            </dd>
          </>
        )}
        <dt>Threshold</dt>
        <dd>
          {at_threshold.threshold}
          {threshold_name !== null && (
            <>
              {' '}
              (<Name text={threshold_name} />)
            </>
          )}
        </dd>
        <dt>Created</dt>
        <dd>
          <Moment at={report.created_at} /> by veravox <Name text={report.veravox_version} />
        </dd>
      </dl>
      <Table
        label="Figures, as a table"
        caption={`Figures on all ${rowNames[task]}`}
        columns={['Figure', { number: 'Value' }, '95 % interval']}
      >
        {rowsOf(report).map(({ name, value, interval }) => (
          <tr key={name}>
            <td>
              <Name text={name} />
            </td>
            <td class="number">{value}</td>
            <td>{interval}</td>
          </tr>
        ))}
      </Table>
      {missingMeans(report).map(({ mean, why }) => (
        <p class="soft" key={mean}>
          Not given: {mean} (<Name text={why} />
          ).
        </p>
      ))}
      <p class="soft">
        Intervals of figures are over whole generators, speakers or sources: {counts.positive_units} of{' '}
        <Name text={classes.positive} />, {counts.negative_units} of <Name text={classes.negative} />.
      </p>
    </section>
  );
}
