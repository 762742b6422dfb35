// SPDX-License-Identifier: Apache-2.0
import type { AdminKey } from 'veravox-client';
import { dayInWords } from '../../logic/days.js';
import { count } from '../../logic/formats.js';
import { Moment } from '../../parts/moment.js';
import { Name } from '../../parts/name.js';
import { State } from '../../parts/state.js';
import { Table } from '../../parts/table.js';
import { addressOf } from '../../place.js';

interface KeyTableProps {
  readonly keys: readonly AdminKey[];
  readonly mayChange: boolean;
  readonly onChange: (key: AdminKey) => void;
  readonly onRevoke: (key: AdminKey) => void;
}

export function KeyTable({ keys, mayChange, onChange, onRevoke }: KeyTableProps) {
  if (keys.length === 0) return <p>No keys found.</p>;
  return (
    <Table
      label="Table of keys"
      columns={['Name', 'Account', 'Scopes', 'Limits', 'Last used', 'Expires', 'State', 'Actions']}
    >
      {keys.map((key) => (
        <tr key={key.id}>
          <th scope="row" class="named">
            <Name text={key.name} />
            <br />
            <code class="soft">{key.id}</code>
          </th>
          <td>
            <Name text={key.account} />
          </td>
          <td>{key.scopes.join(', ')}</td>
          <td>
            <LimitsOf limits={key} />
          </td>
          <td class="day">
            {key.last_used_day === null ? (
              <span class="soft">never</span>
            ) : (
              <time dateTime={key.last_used_day}>{dayInWords(key.last_used_day)}</time>
            )}
          </td>
          <td>
            <Moment at={key.expires_at} />
          </td>
          <td>{stateOf(key)}</td>
          <td>
            <div class="actions">
              <a class="button" href={addressOf('usage', '', { key: key.id })}>
                Usage<span class="visually-hidden"> of {key.id}</span>
              </a>
              {mayChange && key.revoked_at === null && (
                <>
                  <button type="button" onClick={() => onChange(key)}>
                    Edit<span class="visually-hidden"> {key.id}</span>
                  </button>
                  <button type="button" class="danger" onClick={() => onRevoke(key)}>
                    Revoke<span class="visually-hidden"> {key.id}</span>
                  </button>
                </>
              )}
            </div>
          </td>
        </tr>
      ))}
    </Table>
  );
}

function stateOf({ active, revoked_at }: AdminKey) {
  if (revoked_at !== null) {
    return (
      <>
        <State text="revoked" mood="bad" />
        <br />
        <Moment at={revoked_at} />
      </>
    );
  }
  return active ? <State text="active" mood="good" /> : <State text="expired" mood="bad" />;
}

/** Both limits in words; the server's own are one word together. */
function LimitsOf({ limits: { rate, concurrency } }: { readonly limits: AdminKey }) {
  if (rate === null && concurrency === null) return <span class="soft">server defaults</span>;
  return (
    <>
      {rateText(rate)}
      <br />
      {concurrencyText(concurrency)}
    </>
  );
}

function rateText(rate: AdminKey['rate']): string {
  if (rate === null) return 'server default for the rate';
  if (rate.requests === 0) return 'unlimited requests';
  return `${count(rate.requests)} requests per ${count(rate.window_s)} s`;
}

function concurrencyText(concurrency: number | null): string {
  if (concurrency === null) return 'server default at once';
  return concurrency === 0 ? 'unlimited at once' : `${count(concurrency)} at once`;
}
