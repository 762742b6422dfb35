// SPDX-License-Identifier: Apache-2.0
import { useCallback, useLayoutEffect, useRef } from 'preact/hooks';
import type { AdminClient, AdminJob } from 'veravox-client';
import { printable } from '../../logic/printable.js';
import { detectorNamed } from '../../logic/server-facts.js';
import { Cut } from '../../parts/cut.js';
import { Problem } from '../../parts/problem.js';
import { saveFile } from '../../parts/save-file.js';
import { useFollowed } from '../../parts/use-followed.js';
import { useServerFacts } from '../../parts/use-server-facts.js';
import { addressOf } from '../../place.js';
import { useSession } from '../../session.js';
import { JobActions } from './job-actions.js';
import { JobDeliveries } from './job-deliveries.js';
import { JobFacts } from './job-facts.js';
import { JobResult } from './job-result.js';

/** The job as it is, after each step, and with its result when it has ended. */
async function* changesOf(admin: AdminClient, id: string, signal: AbortSignal): AsyncGenerator<AdminJob> {
  const job = await admin.getJob(id, { signal });
  yield job;
  if (job.finished_at !== null) return;
  for await (const summary of admin.followJob(id, { signal })) yield { ...job, ...summary };
  yield await admin.getJob(id, { signal });
}

/** Of the API. */
const DEFAULT_THRESHOLD = 0.5;

const isEnded = ({ finished_at }: AdminJob): boolean => finished_at !== null;

export function JobPage({ id }: { readonly id: string }) {
  const session = useSession();
  const open = useCallback((signal: AbortSignal) => changesOf(session.admin, id, signal), [session, id]);
  const facts = useServerFacts().value;
  const [{ value: job, error, isCut }, restart] = useFollowed(open, isEnded);
  const heading = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => {
    const { title } = document;
    document.title = `Job ${printable(id)} · veravox`;
    // The link that led here is gone.
    heading.current?.focus();
    return () => {
      document.title = title;
    };
  }, [id]);
  return (
    <>
      <p>
        <a href={addressOf('jobs')}>← All jobs</a>
      </p>
      <h2 id="job" ref={heading} tabIndex={-1}>
        {job?.task ?? 'Job'} <code>{printable(id)}</code>
      </h2>
      {error !== undefined && <Problem error={error} onRetry={restart} />}
      {isCut && <Cut />}
      {job === undefined ? (
        error === undefined && <p>Loading …</p>
      ) : (
        <>
          {job.result !== null && (
            <JobResult
              result={job.result}
              threshold={job.parameters?.threshold ?? DEFAULT_THRESHOLD}
              modelId={facts && detectorNamed(facts, job.result.model)?.id}
            />
          )}
          <section class="card" aria-labelledby="job">
            <JobFacts job={job} />
            <div class="row">
              <JobActions job={job} onChanged={restart} />
              {job.result !== null && (
                <button
                  type="button"
                  onClick={() =>
                    saveFile(
                      `job-${job.id}.json`,
                      'application/json',
                      JSON.stringify(job.result, undefined, 2),
                    )
                  }
                >
                  Download the result
                </button>
              )}
            </div>
          </section>
          <JobDeliveries
            key={`${job.id} ${job.finished_at}`}
            id={job.id}
            isEnded={job.finished_at !== null}
          />
        </>
      )}
    </>
  );
}
