// SPDX-License-Identifier: Apache-2.0
import { useContext, useState } from 'preact/hooks';
import { printable } from '../../logic/printable.js';
import { columnsOf, percent, percentSpan, type Report, rowsOf } from '../../logic/report.js';
import { Name } from '../../parts/name.js';
import { Interval } from '../../parts/plots/interval.js';
import { Still } from '../../parts/still.js';
import { Table } from '../../parts/table.js';

const FIRST_SHOWN = 40;

/** Errors per group, the largest share first. */
export function GroupSections({ report }: { readonly report: Report }) {
  const columns = columnsOf(report);
  if (columns.length === 0) return null;
  return (
    <section class="card" aria-label="Groups">
      <h2>Groups</h2>
      <p class="soft">
        Errors are at the threshold, with Wilson intervals; EER and AUC are against the whole other class.
      </p>
      {columns.map((column, i) => (
        <details key={column} open={i === 0}>
          <summary>
            By <Name text={column} />
          </summary>
          <GroupTable report={report} column={column} />
        </details>
      ))}
    </section>
  );
}

function GroupTable({ report, column }: { readonly report: Report; readonly column: string }) {
  const isStill = useContext(Still);
  const [isWhole, setIsWhole] = useState(isStill);
  const rows = rowsOf(report, column);
  const shown = isWhole ? rows : rows.slice(0, FIRST_SHOWN);
  return (
    <>
      <Table
        label={`Errors by ${printable(column)}`}
        columns={[
          'Group',
          'Class',
          { number: 'Count' },
          { number: 'Mean score' },
          { number: 'Errors' },
          '0 to 100 %',
          '95 % interval',
          { number: 'EER' },
          { number: 'AUC' },
        ]}
      >
        {shown.map(({ kind, value, members: { count, mean_score, errors, eer, auc } }) => (
          <tr key={`${kind} ${value}`}>
            <th scope="row" class="named">
              <Name text={value === '' ? '(empty)' : value} />
            </th>
            <td>
              <Name text={report.classes[kind]} />
            </td>
            <td class="number">{count}</td>
            <td class="number">{mean_score.toFixed(3)}</td>
            <td class="number">{percent(errors.value)}</td>
            <td>
              <Interval value={errors.value} interval={errors.interval_95} />
            </td>
            <td>{percentSpan(errors.interval_95)}</td>
            <td class="number">{eer === null ? '' : percent(eer)}</td>
            <td class="number">{auc === null ? '' : auc.toFixed(3)}</td>
          </tr>
        ))}
      </Table>
      {!isStill && rows.length > FIRST_SHOWN && (
        <button type="button" onClick={() => setIsWhole(!isWhole)}>
          {isWhole ? `Show the worst ${FIRST_SHOWN}` : `Show all ${rows.length}`}
        </button>
      )}
      <WithinTable report={report} column={column} />
    </>
  );
}

/** Groups with both classes, against each other. */
function WithinTable({ report, column }: { readonly report: Report; readonly column: string }) {
  const groups = report.groups.filter((group) => group.column === column);
  if (groups.every(({ within }) => within === null)) return null;
  return (
    <Table
      label={`Both classes of a group by ${printable(column)}`}
      caption="Groups with both classes, against each other"
      columns={['Group', { number: 'EER' }, { number: 'AUC' }]}
    >
      {groups.map(
        ({ value, within }) =>
          within !== null && (
            <tr key={value}>
              <th scope="row" class="named">
                <Name text={value === '' ? '(empty)' : value} />
              </th>
              <td class="number">{percent(within.eer)}</td>
              <td class="number">{within.auc.toFixed(3)}</td>
            </tr>
          ),
      )}
    </Table>
  );
}
