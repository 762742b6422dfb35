// SPDX-License-Identifier: Apache-2.0
import type { AdminDelivery } from 'veravox-client';
import { count } from '../../logic/formats.js';
import { Moment } from '../../parts/moment.js';
import { Name } from '../../parts/name.js';
import { Problem } from '../../parts/problem.js';
import { State } from '../../parts/state.js';
import { Table } from '../../parts/table.js';
import { useAction } from '../../parts/use-action.js';
import { useSession } from '../../session.js';

interface DeliveryProps {
  readonly delivery: AdminDelivery;
  readonly onReplayed: () => void;
}

const moods = { waiting: 'plain', sending: 'busy', delivered: 'good', failed: 'bad' } as const;

export function Delivery({ delivery, onReplayed }: DeliveryProps) {
  const session = useSession();
  const [replay, { isBusy, error }] = useAction(async () => {
    await session.admin.replayDelivery(delivery.id);
    onReplayed();
  });
  const { state, url, attempts, next_attempt_at, attempt_count } = delivery;
  const isFinal = state === 'delivered' || state === 'failed';
  return (
    <>
      <p>
        <span aria-live="polite">
          <State text={state} mood={moods[state]} />
        </span>{' '}
        to <Name text={url} />, {count(attempt_count)} {attempt_count === 1 ? 'attempt' : 'attempts'}
        {next_attempt_at !== null && (
          <>
            , the next one <Moment at={next_attempt_at} />
          </>
        )}
      </p>
      {attempts.length > 0 && <Attempts attempts={attempts} />}
      {error !== undefined && <Problem error={error} />}
      {isFinal && session.may('developer') && (
        <button type="button" disabled={isBusy} onClick={replay}>
          Send again
        </button>
      )}
    </>
  );
}

function Attempts({ attempts }: Pick<AdminDelivery, 'attempts'>) {
  return (
    <Table
      label="Table of attempts"
      caption="The latest attempts"
      columns={['Time', 'Answer', { number: 'Duration' }]}
    >
      {attempts.map(({ at, status, problem, took_ms }, i) => (
        // Two attempts may have begun in the same millisecond.
        <tr key={i}>
          <td>
            <Moment at={at} />
          </td>
          <td>{problem === null ? `status ${status}` : <Name text={problem} />}</td>
          <td class="number">{count(took_ms)} ms</td>
        </tr>
      ))}
    </Table>
  );
}
