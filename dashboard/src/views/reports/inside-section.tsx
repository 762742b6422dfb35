// SPDX-License-Identifier: Apache-2.0
import type { Report } from '../../logic/report.js';
import { Name } from '../../parts/name.js';
import { Table } from '../../parts/table.js';

/** AUC of both classes of one source. */
export function InsideSection({
  report: { inside_one_source: inside, classes },
}: {
  readonly report: Report;
}) {
  if (inside === null) return null;
  return (
    <section class="card" aria-label="Inside one source">
      <h2>Inside one source</h2>
      <Table
        label="AUC inside one source"
        columns={[
          'Source',
          { number: <Name text={classes.negative} /> },
          { number: <Name text={classes.positive} /> },
          { number: 'AUC' },
        ]}
      >
        {inside.sources.map(({ source, negative, positive, auc }) => (
          <tr key={source}>
            <th scope="row" class="named">
              <Name text={source} />
            </th>
            <td class="number">{negative}</td>
            <td class="number">{positive}</td>
            <td class="number">{auc.toFixed(3)}</td>
          </tr>
        ))}
      </Table>
    </section>
  );
}
