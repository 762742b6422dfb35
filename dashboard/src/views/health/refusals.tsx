// SPDX-License-Identifier: Apache-2.0
import type { HealthHistory } from 'veravox-client';
import { count } from '../../logic/formats.js';
import { refusalTotals } from '../../logic/health-series.js';
import { Table } from '../../parts/table.js';

/** Why requests were refused or failed. */
export function Refusals({ history }: { readonly history: HealthHistory }) {
  const totals = refusalTotals(history);
  return (
    <section class="card" aria-labelledby="health-refusals">
      <h2 id="health-refusals">Errors in this period</h2>
      <p class="soft">By their keys in the documentation, including those that the dashboard received.</p>
      {totals.length === 0 ? (
        <p>None.</p>
      ) : (
        <Table label="Errors by their key" columns={['Error', { number: 'Requests' }]}>
          {totals.map(([key, times]) => (
            <tr key={key}>
              <th scope="row">
                <code>{key}</code>
              </th>
              <td class="number">{count(times)}</td>
            </tr>
          ))}
        </Table>
      )}
    </section>
  );
}
