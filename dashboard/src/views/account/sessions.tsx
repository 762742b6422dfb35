// SPDX-License-Identifier: Apache-2.0
import { useCallback, useState } from 'preact/hooks';
import type { OwnSession } from 'veravox-client';
import { browserOf } from '../../logic/browser-of.js';
import { Moment } from '../../parts/moment.js';
import { Name } from '../../parts/name.js';
import { Problem } from '../../parts/problem.js';
import { Table } from '../../parts/table.js';
import { useAction } from '../../parts/use-action.js';
import { useFocusKept } from '../../parts/use-focus-kept.js';
import { useLoaded } from '../../parts/use-loaded.js';
import { useSession } from '../../session.js';

const columns = ['Browser', 'Address', 'Signed in', 'Last used', 'Actions'] as const;

/** The user's sessions. */
export function Sessions() {
  const session = useSession();
  const [news, setNews] = useState('');
  const [list, reload] = useLoaded(
    useCallback((signal: AbortSignal) => session.admin.listOwnSessions({ signal }), [session]),
  );
  useFocusKept(list);
  const [endOthers, { isBusy, error }] = useAction(async () => {
    const { sessions } = await session.admin.endOtherSessions();
    setNews(sessions === 1 ? 'One other session has ended.' : `${sessions} other sessions have ended.`);
    reload();
  });
  const sessions = list.value?.sessions ?? [];
  return (
    <section class="card" aria-labelledby="sessions">
      <h2 id="sessions">Sessions</h2>
      <p>
        A session ends after 12 hours without use, and after 7 days at the latest. A new password ends all
        others.
      </p>
      {list.is === 'failed' && <Problem error={list.error} onRetry={reload} />}
      <div class="row">
        <button type="button" class="danger" disabled={isBusy || sessions.length < 2} onClick={endOthers}>
          End all others
        </button>
      </div>
      {error !== undefined && <Problem error={error} />}
      <output>{news}</output>
      {sessions.length > 0 && (
        <Table label="Table of your sessions" columns={columns}>
          {sessions.map((one) => (
            <SessionRow key={one.id} of={one} onEnded={reload} />
          ))}
        </Table>
      )}
    </section>
  );
}

interface SessionRowProps {
  readonly of: OwnSession;
  readonly onEnded: () => void;
}

function SessionRow({ of, onEnded }: SessionRowProps) {
  const { admin } = useSession();
  const [end, { isBusy, error }] = useAction(async () => {
    await admin.endOwnSession(of.id);
    onEnded();
  });
  const browser = browserOf(of.user_agent);
  return (
    <tr>
      <th scope="row" class="named">
        <Name text={browser} />
      </th>
      <td>{of.client_address ?? <span class="soft">unknown</span>}</td>
      <td>
        <Moment at={of.created_at} />
      </td>
      <td>
        <Moment at={of.last_used_at} />
      </td>
      <td>
        {of.is_current ? (
          'this session'
        ) : (
          <button type="button" disabled={isBusy} onClick={end}>
            End
            <span class="visually-hidden">
              {' '}
              <Name text={browser} />
            </span>
          </button>
        )}
        {error !== undefined && <Problem error={error} />}
      </td>
    </tr>
  );
}
