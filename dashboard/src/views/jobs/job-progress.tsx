// SPDX-License-Identifier: Apache-2.0
import type { AdminJobSummary } from 'veravox-client';
import { progressText } from '../../logic/job-texts.js';

/** The progress of the work: a bar while it runs, and words. */
export function JobProgress({ job }: { readonly job: AdminJobSummary }) {
  const text = progressText(job);
  return (
    <>
      {job.state === 'running' && (
        <progress max={1} value={job.file_progress} aria-label={`Progress of ${job.id}`} />
      )}
      <div class="soft">
        {text}
        {job.attempts > 1 && `, attempt ${job.attempts}`}
      </div>
    </>
  );
}
