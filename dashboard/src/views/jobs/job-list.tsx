// SPDX-License-Identifier: Apache-2.0
import { useCallback, useMemo } from 'preact/hooks';
import { filterOf, type JobFilter } from '../../logic/job-filter.js';
import { queryOf } from '../../logic/query-of.js';
import { Cut } from '../../parts/cut.js';
import { Pager } from '../../parts/pager.js';
import { Problem } from '../../parts/problem.js';
import { useFocusKept } from '../../parts/use-focus-kept.js';
import { useFollowed } from '../../parts/use-followed.js';
import { usePages } from '../../parts/use-pages.js';
import { addressOf } from '../../place.js';
import { useSession } from '../../session.js';
import { JobControls } from './job-controls.js';
import { JobNews } from './job-news.js';
import { JobTable } from './job-table.js';

const JOBS_PER_PAGE = 25;

/** The first page is live; older ones are asked for again every few seconds. */
export function JobList({ query }: { readonly query: URLSearchParams }) {
  const session = useSession();
  const filter = useMemo(() => filterOf(query), [query]);
  const { cursor, ...pages } = usePages(JSON.stringify(filter));
  const open = useCallback(
    (signal: AbortSignal) => {
      const { admin } = session;
      const wanted = { ...queryOf(filter), limit: JOBS_PER_PAGE, signal };
      if (cursor === undefined) return admin.followJobs(wanted);
      return (async function* () {
        yield await admin.listJobs({ ...wanted, cursor });
      })();
    },
    [session, filter, cursor],
  );
  const [{ value, error, isCut }, restart] = useFollowed(open);
  useFocusKept(value);
  const choose = (part: Partial<JobFilter>): void => {
    location.hash = addressOf('jobs', '', queryOf({ ...filter, ...part }));
  };
  return (
    <section class="card" aria-label="Jobs">
      <JobControls filter={filter} mayChooseAccount={session.user.account === null} onChoose={choose} />
      {error !== undefined && <Problem error={error} onRetry={restart} />}
      {isCut && <Cut />}
      {value === undefined ? (
        error === undefined && <p>Loading …</p>
      ) : (
        <>
          <JobTable jobs={value.jobs} onChanged={restart} />
          <JobNews jobs={value.jobs} />
          {value.jobs.length === 0 && (
            <p class="soft">
              {Object.values(filter).some((wanted) => wanted !== '') ? (
                'No job fits the filters: choose others to see more.'
              ) : (
                <>
                  Long recordings and lists of them become jobs: a program sends <code>POST /v1/jobs</code>,
                  or you choose a large file in the playground. New jobs appear here automatically.
                </>
              )}
            </p>
          )}
          <Pager page={pages.page} onBack={pages.onBack} onNext={pages.next(value.next_cursor)} />
        </>
      )}
    </section>
  );
}
