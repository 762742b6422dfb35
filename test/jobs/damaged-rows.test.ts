// SPDX-License-Identifier: Apache-2.0
//
// A damaged value in the row of a job fails this job and names its place; other jobs go on.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runJob } from '../../src/jobs/work/job-runner.js';
import { DamagedValue } from '../../src/state/database/stored-json.js';
import { eventually } from '../support/eventually.js';
import { onEachQueue } from '../support/job-queues.js';
import { startJobServer } from '../support/job-server.js';
import { newJob } from '../support/new-job.js';
import { taken } from '../support/taken-work.js';
import { unhurried } from '../support/turn-limits.js';

const damages = ['', '{', 'null', '[]', '"text"', '7'];

onEachQueue('dead workers lose all their jobs, also behind one with a damaged source', async (open) => {
  const { jobs, workTable, database } = await open({ leaseMs: -1 });
  for (const damage of damages) {
    const { job: bad } = await jobs.create(newJob);
    await database.execute('UPDATE jobs SET source = $1, tries = 4 WHERE id = $2', [damage, bad.id]);
    await workTable.take();
    const { job: good } = await jobs.create({ ...newJob, account: 'b' });
    await workTable.take();
    const { failed } = await workTable.reap();
    assert.deepEqual(
      failed.map(({ id }) => id),
      [bad.id],
      damage,
    );
    assert.equal((await jobs.get('a', bad.id))?.failure?.code, 'WORKER_DIED');
    assert.equal((await jobs.get('b', good.id))?.state, 'queued');
    await jobs.cancel('b', good.id);
  }
});

onEachQueue('a worker fails a damaged job, and the reason names table, column and row', async (open) => {
  const { jobs, workTable, database } = await open();
  const parts = {
    workTable,
    analyser: { analyseRecording: () => assert.fail('nothing is analysed') },
    openSource: async () => ({ bytes: 1, identity: '', read: async () => {}, close: async () => {} }),
    enroll: async () => assert.fail('nothing is enrolled'),
    store: async () => assert.fail('nothing is stored'),
    maxBytes: 1,
    maxDurationS: 1,
    timeLimitMs: 1000,
    heartbeatMs: 60_000,
  };
  for (const column of ['source', 'parameters', 'cursor']) {
    for (const damage of damages) {
      const { job } = await jobs.create(newJob);
      await database.execute(`UPDATE jobs SET ${column} = $1 WHERE id = $2`, [damage, job.id]);
      const turn = await runJob(await taken(workTable), parts, unhurried());
      assert.ok(turn.outcome === 'failed', `${column} ${damage}: ${turn.outcome}`);
      assert.ok(turn.failure.cause instanceof DamagedValue);
      const { message } = turn.failure.cause;
      assert.equal(message, `The value of ${column} in the table jobs is damaged: row ${job.id}.`);
      assert.equal((await jobs.get('a', job.id))?.state, 'failed');
    }
  }
});

test('a server ends a damaged job, counts it, and goes on with others', async (t) => {
  const server = await startJobServer(t);
  await server.store('a.wav', Buffer.from('any sound'));
  const state = async (id: string): Promise<string> =>
    (await server.call('GET', `/v1/jobs/${id}`)).json.state;
  for (const damaged of [{ source: '{' }, { parameters: '{' }]) {
    const { job } = await server.jobParts.jobs.create({ ...newJob, ...damaged, account: 'one' });
    await eventually(async () => (await state(job.id)) === 'failed', 'it fails');
  }
  const { json } = await server.call('POST', '/v1/jobs', { key: 'a.wav' });
  await eventually(async () => (await state(json.id)) === 'succeeded', 'it goes on');
  await server.database.execute("UPDATE jobs SET result = '{' WHERE id = $1", [json.id]);
  assert.equal((await server.call('GET', `/v1/jobs/${json.id}`)).status, 500);
  const { json: list } = await server.call('GET', '/v1/jobs');
  assert.equal(list.jobs.length, 3);
});
