// SPDX-License-Identifier: Apache-2.0
import type { AdminVerificationFigures } from 'veravox-client';
import { Name } from '../../parts/name.js';
import { Table } from '../../parts/table.js';
import { Figure } from './figure.js';

/** A speaker model by kind and length of the recordings. */
export const VerificationTable = ({ rows }: { readonly rows: readonly AdminVerificationFigures[] }) => (
  <Table
    label="Error rates of the speaker model"
    caption="Error rates at the operating point, with 95 % intervals"
    columns={[
      'Recordings',
      { number: 'Speech' },
      'Equal error rate',
      'Strangers accepted',
      'Genuine speakers rejected',
    ]}
  >
    {rows.map(({ condition, test_speech_s, eer, false_accepts, false_rejects }) => (
      <tr key={`${condition} ${test_speech_s}`}>
        <th scope="row">
          <Name text={condition} />
        </th>
        <td class="number">{test_speech_s} s</td>
        <td>
          <Figure figure={eer} isInTable />
        </td>
        <td>{false_accepts === null ? '–' : <Figure figure={false_accepts} isInTable />}</td>
        <td>{false_rejects === null ? '–' : <Figure figure={false_rejects} isInTable />}</td>
      </tr>
    ))}
  </Table>
);
