// SPDX-License-Identifier: Apache-2.0
import type { Report } from '../../logic/report.js';
import { Name } from '../../parts/name.js';
import { Table } from '../../parts/table.js';

const MOST_SHOWN = 100;

/** Samples without a score. */
export function FailuresSection({ report: { failures } }: { readonly report: Report }) {
  if (failures.length === 0) return null;
  return (
    <section class="card" aria-label="Without a score">
      <h2>Without a score</h2>
      {failures.map(({ code, files }) => (
        <details key={code}>
          <summary>
            <Name text={code} /> ({files.length})
          </summary>
          <Table label={`Rows without a score: ${code}`} columns={['Row', 'Problem']}>
            {files.slice(0, MOST_SHOWN).map(({ name, message }, i) => (
              <tr key={i}>
                <td>
                  <Name text={name} />
                </td>
                <td>
                  <Name text={message} />
                </td>
              </tr>
            ))}
          </Table>
          {files.length > MOST_SHOWN && <p class="soft">{files.length - MOST_SHOWN} more are in the file.</p>}
        </details>
      ))}
    </section>
  );
}
