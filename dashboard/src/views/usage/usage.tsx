// SPDX-License-Identifier: Apache-2.0
import { useCallback, useMemo } from 'preact/hooks';
import { queryOf } from '../../logic/query-of.js';
import { filterOf, type UsageFilter } from '../../logic/usage-filter.js';
import { groupsOf } from '../../logic/usage-series.js';
import { Problem } from '../../parts/problem.js';
import { useLoaded } from '../../parts/use-loaded.js';
import { addressOf, type ViewProps } from '../../place.js';
import { useSession } from '../../session.js';
import { CsvButton } from './csv-button.js';
import { UsageControls } from './usage-controls.js';
import { UsageFigures } from './usage-figures.js';
import { UsagePlot } from './usage-plot.js';
import { UsageTable } from './usage-table.js';

/** The usage of each key, day by day. */
export default function Usage({ place }: ViewProps) {
  const session = useSession();
  const filter = useMemo(() => filterOf(place.query, new Date()), [place]);
  const { from, to, key, account } = filter;
  const query = useMemo(
    () => ({ from, to, key: key === '' ? undefined : key, account: account === '' ? undefined : account }),
    [from, to, key, account],
  );
  const load = useCallback(
    (signal: AbortSignal) => session.admin.getUsage({ ...query, signal }),
    [session, query],
  );
  const [usage, reload] = useLoaded(load);
  const groups = useMemo(
    () => groupsOf(usage.value?.rows ?? [], filter.by, filter.measure),
    [usage.value, filter.by, filter.measure],
  );
  const choose = (part: Partial<UsageFilter>): void => {
    location.hash = addressOf('usage', '', queryOf({ ...filter, ...part }));
  };
  return (
    <>
      <section class="card" aria-label="Filters">
        <UsageControls filter={filter} mayChooseAccount={session.user.account === null} onChoose={choose} />
      </section>
      {usage.is === 'failed' && <Problem error={usage.error} onRetry={reload} />}
      {usage.value !== undefined && (
        <div aria-busy={usage.is === 'loading'}>
          <UsageFigures totals={usage.value.totals} />
          <UsagePlot groups={groups} filter={filter} />
          <section class="card" aria-label="Table of usage">
            <UsageTable groups={groups} by={filter.by} />
            {groups.length > 0 && (
              <div class="row end">
                <CsvButton query={query} />
              </div>
            )}
          </section>
        </div>
      )}
      {usage.is === 'loading' && usage.value === undefined && <p>Loading …</p>}
    </>
  );
}
