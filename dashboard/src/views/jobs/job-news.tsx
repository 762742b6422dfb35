// SPDX-License-Identifier: Apache-2.0
import { useMemo } from 'preact/hooks';
import type { AdminJobSummary } from 'veravox-client';
import { jobStates, statesOf } from '../../logic/job-texts.js';

/** Tells a screen reader when jobs of the list come, begin or end; not at each step of their progress. */
export function JobNews({ jobs }: { readonly jobs: readonly AdminJobSummary[] }) {
  const states = statesOf(jobs);
  // Said anew only if a state differs.
  const text = useMemo(
    () =>
      jobStates
        .map((state) => ({ state, jobs: jobs.filter((job) => job.state === state).length }))
        .filter((group) => group.jobs > 0)
        .map((group) => `${group.jobs} ${group.state}`)
        .join(', '),
    [states],
  );
  return (
    <p class="soft" aria-live="polite">
      {text === '' ? 'No jobs found.' : `On this page: ${text}.`}
    </p>
  );
}
