// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import type { Work } from '../../src/jobs/queue/job.js';
import type { JobWorkTable } from '../../src/jobs/queue/job-work-table.js';
import { eventually } from './eventually.js';

/** The next job, when one is due. */
export async function taken(workTable: JobWorkTable): Promise<Work> {
  let work: Work | undefined;
  await eventually(async () => {
    work = await workTable.take();
    return work !== undefined;
  }, 'a job is due');
  return work ?? assert.fail();
}
