// SPDX-License-Identifier: Apache-2.0
//
// The failure of an upload's job becomes the file of its result, also after an outage of the storage and the death of a worker, and
// never over the result of a newer recording.
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { pino } from 'pino';
import { ServiceError } from '../../src/base/errors/service-error.js';
import type { Job } from '../../src/jobs/queue/job.js';
import { FailureFiles } from '../../src/jobs/work/failure-files.js';
import { eventually } from '../support/eventually.js';
import { type JobParts, onEachQueue } from '../support/job-queues.js';
import { newJob } from '../support/new-job.js';
import { taken } from '../support/taken-work.js';

const RESULT = 'folder/results/key';
const upload = { ...newJob, source: JSON.stringify({ object: 'folder/analysis/key', resultObject: RESULT }) };
const failure = { code: 'FILE_EMPTY', message: 'It is empty.' };

/** A storage that can be away. */
class Storage {
  readonly files = new Map<string, { correlation_id?: string }>();
  isAway = false;
  tries = 0;

  async store(name: string, body: object): Promise<void> {
    this.tries++;
    if (this.isAway) throw new ServiceError('STORAGE_UNAVAILABLE');
    this.files.set(name, body);
  }
}

function start(t: TestContext, { workTable, database }: JobParts) {
  const storage = new Storage();
  const store = (name: string, body: object) => storage.store(name, body);
  const files = new FailureFiles({ workTable, store, log: pino({ level: 'silent' }) });
  const timer = setInterval(() => files.look(), 10);
  t.after(() => {
    clearInterval(timer);
    return files.close();
  });
  const owed = async (): Promise<number> =>
    (await database.query('SELECT id FROM jobs WHERE failure_file_due_ms IS NOT NULL')).length;
  return {
    storage,
    owed,
    /** Without the pause before another try. */
    tryAgain: () => database.execute('UPDATE jobs SET failure_file_due_ms = 0 WHERE failure_file_due_ms > 0'),
  };
}

async function failed({ jobs, workTable }: JobParts): Promise<Job> {
  const { job } = await jobs.create(upload);
  assert.equal(await workTable.fail(await taken(workTable), failure, false), false);
  return job;
}

onEachQueue('a failure is stored once the storage is back, and once only', async (open, t) => {
  const jobParts = await open();
  const { storage, owed, tryAgain } = start(t, jobParts);
  storage.isAway = true;
  const { id } = await failed(jobParts);
  await eventually(() => storage.tries === 1, 'it is tried');
  storage.isAway = false;
  assert.equal(await owed(), 1);
  await tryAgain();
  await eventually(async () => (await owed()) === 0, 'it is stored');
  assert.deepEqual(storage.files.get(RESULT), {
    error: 'validation_error',
    message: failure.message,
    status: 400,
    correlation_id: id,
  });
  assert.equal(storage.tries, 2);
});

onEachQueue('a failure that cannot be stored for days is given up', async (open, t) => {
  const jobParts = await open();
  const { storage, owed, tryAgain } = start(t, jobParts);
  storage.isAway = true;
  await failed(jobParts);
  await eventually(() => storage.tries === 1, 'it is tried');
  await jobParts.database.execute('UPDATE jobs SET finished_at_ms = finished_at_ms - $1', [4 * 86_400_000]);
  await tryAgain();
  await eventually(async () => (await owed()) === 0, 'it is given up');
});

onEachQueue('a job whose workers died has a file, and one that is no upload has none', async (open, t) => {
  const jobParts = await open({ leaseMs: 500 });
  const { jobs, workTable, database } = jobParts;
  const { storage, owed } = start(t, jobParts);
  const { job } = await jobs.create(upload);
  await jobs.create(newJob);
  await database.execute('UPDATE jobs SET tries = 4');
  for (let i = 0; i < 2; i++) await taken(workTable);
  let died = 0;
  await eventually(async () => {
    died += (await workTable.reap()).failed.length;
    return died === 2;
  }, 'both are given up');
  await eventually(() => storage.files.size === 1, 'the file is there');
  assert.equal(storage.files.get(RESULT)?.correlation_id, job.id);
  await eventually(async () => (await owed()) === 0, 'nothing is left');
});

onEachQueue('a failure is not stored once a newer recording of its key has a job', async (open, t) => {
  const jobParts = await open();
  const { jobs, workTable } = jobParts;
  const { storage, owed, tryAgain } = start(t, jobParts);
  storage.isAway = true;
  await failed(jobParts);
  await eventually(() => storage.tries === 1, 'it is tried');
  // Another one fails while the job of the newest is there, as if its worker had died.
  const { job: second } = await jobs.create(upload);
  assert.equal(await owed(), 0);
  const work = await taken(workTable);
  assert.equal(work.job.id, second.id);
  const { job: third } = await jobs.create(upload);
  await workTable.fail(work, failure, false);
  storage.isAway = false;
  await tryAgain();
  assert.equal(await owed(), 0);
  await workTable.fail(await taken(workTable), failure, false);
  await eventually(() => storage.files.size === 1, 'that of the newest is stored');
  assert.equal(storage.files.get(RESULT)?.correlation_id, third.id);
  // It can be tried anew; until it fails again, nobody waits for its failure.
  storage.isAway = true;
  const { id } = await failed(jobParts);
  await jobs.retry({ account: 'a', id });
  assert.equal(await owed(), 0);
});
