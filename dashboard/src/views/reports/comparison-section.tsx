// SPDX-License-Identifier: Apache-2.0
import { errorNames } from '../../logic/error-rates.js';
import { type Comparison, percent, type Report, rowNames, signed } from '../../logic/report.js';
import { Name } from '../../parts/name.js';
import { type Column, Table } from '../../parts/table.js';

const decimals = (value: number): string => value.toFixed(3);
const LOWEST_P = 1e-4;
const pValue = (p: number): string => (p < LOWEST_P ? `below ${LOWEST_P}` : p.toFixed(4));

const onlyOf = (id: string): Column => ({
  number: (
    <>
      Only <Name text={id} />
    </>
  ),
});

/** Another model on the same rows. */
export function ComparisonSection({ report }: { readonly report: Report }) {
  const { comparison, model, task } = report;
  if (comparison === null) return null;
  const names = errorNames[task];
  const tests = [
    { name: `all ${rowNames[task]}`, test: comparison.mcnemar.all },
    { name: names.fpr, test: comparison.mcnemar.negative },
    { name: names.fnr, test: comparison.mcnemar.positive },
  ];
  return (
    <section class="card" aria-label="Comparison">
      <h2>
        Compared with <Name text={comparison.id} />
      </h2>
      <p>
        {comparison.compared} rows have scores from both models
        {comparison.left_out > 0 && `; ${comparison.left_out} are left out`}.
      </p>
      <Differences report={report} comparison={comparison} />
      {comparison.why_no_intervals !== null && (
        <p class="soft">
          No intervals: <Name text={comparison.why_no_intervals} />.
        </p>
      )}
      <Table
        label="Rows with one wrong model"
        caption="Rows with one wrong model"
        columns={['Rows', onlyOf(model.id), onlyOf(comparison.id), { number: "McNemar's p" }]}
      >
        {tests.map(({ name, test: { only_model, only_other, p_value } }) => (
          <tr key={name}>
            <td>{name}</td>
            <td class="number">{only_model}</td>
            <td class="number">{only_other}</td>
            <td class="number">{pValue(p_value)}</td>
          </tr>
        ))}
      </Table>
    </section>
  );
}

function Differences({ report, comparison }: { readonly report: Report; readonly comparison: Comparison }) {
  const names = errorNames[report.task];
  const { eer, auc, fpr, fnr } = comparison;
  const rows = [
    { name: 'equal error rate', difference: eer, text: percent },
    { name: 'AUC', difference: auc, text: decimals },
    { name: names.fpr, difference: fpr, text: percent },
    { name: names.fnr, difference: fnr, text: percent },
  ];
  return (
    <Table
      label="Differences between the models"
      columns={[
        'Figure',
        { number: <Name text={report.model.id} /> },
        { number: <Name text={comparison.id} /> },
        { number: 'Difference' },
        '95 % interval',
      ]}
    >
      {rows.map(({ name, difference, text }) => {
        if (difference === null) return null;
        const { model, other, value, interval_95 } = difference;
        const inText = (of: number): string => signed(of, (size) => text(size));
        return (
          <tr key={name}>
            <td>{name}</td>
            <td class="number">{text(model)}</td>
            <td class="number">{text(other)}</td>
            <td class="number">{inText(value)}</td>
            <td>{interval_95 === null ? '' : interval_95.map(inText).join(' to ')}</td>
          </tr>
        );
      })}
    </Table>
  );
}
