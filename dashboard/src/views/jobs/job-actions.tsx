// SPDX-License-Identifier: Apache-2.0
import { useState } from 'preact/hooks';
import type { AdminJobSummary } from 'veravox-client';
import { Confirmation } from '../../parts/confirmation.js';
import { Problem } from '../../parts/problem.js';
import { useAction } from '../../parts/use-action.js';
import { useSession } from '../../session.js';

interface JobActionsProps {
  readonly job: Pick<AdminJobSummary, 'id' | 'finished_at' | 'retryable'>;
  readonly onChanged: () => void;
}

/** Possible actions on the job, for users who may take them. */
export function JobActions({ job, onChanged }: JobActionsProps) {
  const session = useSession();
  const [isAsking, setAsking] = useState(false);
  const { admin } = session;
  const [retry, { isBusy, error }] = useAction(async () => {
    await admin.retryJob(job.id);
    onChanged();
  });
  const isEnded = job.finished_at !== null;
  if (!session.may('developer') || (isEnded && !job.retryable)) return null;
  const hidden = <span class="visually-hidden"> {job.id}</span>;
  return (
    <div class="actions">
      {!isEnded && (
        <button type="button" onClick={() => setAsking(true)}>
          Cancel{hidden}
        </button>
      )}
      {job.retryable && (
        <button type="button" disabled={isBusy} onClick={retry}>
          Retry{hidden}
        </button>
      )}
      {error !== undefined && <Problem error={error} />}
      {isAsking && (
        <Confirmation
          title="Cancel the job?"
          verb="Cancel the job"
          act={async () => {
            await admin.cancelJob(job.id);
            setAsking(false);
            onChanged();
          }}
          onClose={() => setAsking(false)}
        >
          <p>
            The job <code>{job.id}</code> stops within seconds, and its analysis so far is lost.
          </p>
        </Confirmation>
      )}
    </div>
  );
}
