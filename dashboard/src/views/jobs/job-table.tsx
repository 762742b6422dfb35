// SPDX-License-Identifier: Apache-2.0
import type { AdminJobSummary } from 'veravox-client';
import { clock } from '../../logic/clock.js';
import { moodOf } from '../../logic/job-texts.js';
import { Moment } from '../../parts/moment.js';
import { Name } from '../../parts/name.js';
import { State } from '../../parts/state.js';
import { Table } from '../../parts/table.js';
import { addressOf } from '../../place.js';
import { JobActions } from './job-actions.js';
import { JobProgress } from './job-progress.js';

interface JobTableProps {
  readonly jobs: readonly AdminJobSummary[];
  readonly onChanged: () => void;
}

const columns = ['Job', 'State', 'Progress', { number: 'Audio' }, 'Account', 'Created', 'Actions'] as const;

export function JobTable({ jobs, onChanged }: JobTableProps) {
  if (jobs.length === 0) return null;
  return (
    <Table label="Table of jobs" columns={columns}>
      {jobs.map((job) => (
        <tr key={job.id}>
          <th scope="row">
            <a href={addressOf('jobs', job.id)} aria-label={`${job.task} ${job.id}`}>
              {job.task} <code>{job.id.slice(0, 8)}</code>
            </a>
          </th>
          <td>
            <State text={job.state} mood={moodOf[job.state]} />
            {job.error !== null && (
              <>
                <br />
                <code>{job.error.key}</code>
              </>
            )}
          </td>
          <td>
            <JobProgress job={job} />
          </td>
          <td class="number">{clock(job.audio_analysed, 0)}</td>
          <td>
            <Name text={job.account} />
          </td>
          <td>
            <Moment at={job.created_at} />
          </td>
          <td>
            <JobActions job={job} onChanged={onChanged} />
          </td>
        </tr>
      ))}
    </Table>
  );
}
