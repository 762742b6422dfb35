// SPDX-License-Identifier: Apache-2.0
import { useContext } from 'preact/hooks';
import { printable } from '../../logic/printable.js';
import type { Report } from '../../logic/report.js';
import { Name } from '../../parts/name.js';
import { Still } from '../../parts/still.js';
import { Table } from '../../parts/table.js';

const FIRST_SHOWN = 100;

/** Samples without a score. */
export function FailuresSection({ report: { failures } }: { readonly report: Report }) {
  const most = useContext(Still) ? Number.POSITIVE_INFINITY : FIRST_SHOWN;
  if (failures.length === 0) return null;
  return (
    <section class="card" aria-label="Without a score">
      <h2>Without a score</h2>
      {failures.map(({ code, files }) => (
        <details key={code}>
          <summary>
            <Name text={code} /> ({files.length})
          </summary>
          <Table label={`Rows without a score: ${printable(code)}`} columns={['Row', 'Problem']}>
            {files.slice(0, most).map(({ name, message }, i) => (
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
          {files.length > most && <p class="soft">{files.length - most} more are in the file.</p>}
        </details>
      ))}
    </section>
  );
}
