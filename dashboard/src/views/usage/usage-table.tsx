// SPDX-License-Identifier: Apache-2.0
import { measures, type UsageGroup } from '../../logic/usage-series.js';
import { Name } from '../../parts/name.js';
import { Table } from '../../parts/table.js';
import { addressOf } from '../../place.js';
import { measureTexts } from './measures.js';

interface UsageTableProps {
  readonly groups: readonly UsageGroup[];
  readonly by: 'key' | 'account';
}

/** The sums of each group. */
export function UsageTable({ groups, by }: UsageTableProps) {
  if (groups.length === 0) return <p>Nobody has sent requests in this period.</p>;
  return (
    <Table
      label="Totals"
      caption={by === 'key' ? 'By key' : 'By account'}
      columns={[
        ...(by === 'key' ? ['Key', 'Account'] : ['Account']),
        ...measures.map((measure) => ({ number: measureTexts[measure].title })),
      ]}
    >
      {groups.map((group) => (
        <tr key={`${group.account} ${group.name}`}>
          <th scope="row" class="named">
            {group.id === undefined ? (
              <Name text={group.name} />
            ) : (
              <a href={addressOf('usage', '', by === 'key' ? { key: group.id } : { account: group.id })}>
                <Name text={group.name} />
              </a>
            )}
          </th>
          {by === 'key' && (
            <td>
              <Name text={group.account} />
            </td>
          )}
          {measures.map((measure) => (
            <td key={measure} class="number">
              {measureTexts[measure].format(group.totals[measure])}
            </td>
          ))}
        </tr>
      ))}
    </Table>
  );
}
