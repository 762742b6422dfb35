// SPDX-License-Identifier: Apache-2.0
//
// Jobs and webhooks over the admin API, with SQLite and with PostgreSQL.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AdminClient, VeravoxError } from '../../client/src/index.js';
import { deliveryRoutes } from '../../src/console/routes/delivery-routes.js';
import { adminJobRoutes } from '../../src/console/routes/job-routes.js';
import type { NewJob, Work } from '../../src/jobs/queue/job.js';
import type { JobWorkTable } from '../../src/jobs/queue/job-work-table.js';
import { JobWatch } from '../../src/jobs/routes/job-watch.js';
import { webhookBody } from '../../src/jobs/webhooks/webhook-body.js';
import type { AuditEvent } from '../../src/state/records/audit-chain.js';
import { UsageTable } from '../../src/state/records/usage-table.js';
import { ADMIN, adminCaller, someone } from '../support/admin-caller.js';
import { eventually } from '../support/eventually.js';
import { type JobParts, onEachQueue } from '../support/job-queues.js';
import { startJobServer } from '../support/job-server.js';
import { ADMIN_API_KEY } from '../support/test-server.js';

const PARAMETERS = { model: 'm', threshold: 0.5, silenceThresholdPercent: 80 };
const OBJECT = '0123456789abcdef0123456789abcdef/analysis/day/1.flac';

const newJob = (more: Partial<NewJob> = {}): NewJob => ({
  account: 'a',
  keyId: 'key_a',
  task: 'predict',
  source: JSON.stringify({ object: OBJECT }),
  parameters: JSON.stringify(PARAMETERS),
  ...more,
});

const failure = { code: 'FETCH_FAILED', message: 'The storage does not answer.' };
const NO_JOB = '0b5c2f6e-8f0e-4c55-9d4f-2f1d5a3c7e90';

function handlersOf({ jobs }: JobParts) {
  const notes: AuditEvent[] = [];
  const audit = { fails: false };
  const noteFirst = async (event: AuditEvent): Promise<void> => {
    if (audit.fails) throw new Error('The disk is full.');
    notes.push(event);
  };
  const watch = new JobWatch(jobs);
  const stopping = new AbortController().signal;
  const call = adminCaller((guard) => [
    ...adminJobRoutes(guard, { jobs, watch, stopping, noteFirst }),
    ...deliveryRoutes(guard, { deliveries: jobs.deliveries, noteFirst }),
  ]);
  const retry = (id: string, who = ADMIN) => call(who, 'POST', `/v1/admin/jobs/${id}/retry`);
  return { call, retry, notes, audit };
}

async function taken(workTable: JobWorkTable): Promise<Work> {
  let work: Work | undefined;
  await eventually(async () => {
    work = await workTable.take();
    return work !== undefined;
  }, 'there is a job');
  return work ?? assert.fail();
}

async function failed({ jobs, workTable }: JobParts, more: Partial<NewJob> = {}): Promise<string> {
  const { job } = await jobs.create(newJob(more));
  await workTable.fail(await taken(workTable), failure, false);
  return job.id;
}

onEachQueue('only a failed job whose file is known can be tried again', async (open) => {
  const jobParts = await open();
  const { retry, notes } = handlersOf(jobParts);
  const { jobs, workTable } = jobParts;
  const behindLink = await failed(jobParts, { source: '{"link":"https://storage.example/secret"}' });
  const { job: done } = await jobs.create(newJob());
  await workTable.succeed(await taken(workTable), { result: '{}', audioS: 1 });
  const { job: cancelled } = await jobs.create(newJob());
  await jobs.cancel('a', cancelled.id);
  const { job: batch } = await jobs.create(
    newJob({ task: 'batch', source: JSON.stringify({ resultFolder: 'x', manifest: { object: OBJECT } }) }),
  );
  await jobs.cancel('a', batch.id);
  for (const [id, why] of [
    [behindLink, /no longer knows/],
    [done.id, /has not failed/],
    [cancelled.id, /has not failed/],
    [batch.id, /has not failed/],
  ] as const) {
    const answer = await retry(id);
    assert.deepEqual([answer.status, answer.key], [400, 'JOB_NOT_RETRYABLE']);
    assert.match(answer.message, why);
  }
  for (const id of [NO_JOB, 'x', '%00', '..']) assert.equal((await retry(id)).key, 'JOB_NOT_FOUND', id);
  const own = await failed(jobParts);
  assert.equal((await retry(own, someone('developer', 'other'))).key, 'JOB_NOT_FOUND');
  assert.deepEqual(
    [(await jobs.findOne(own))?.state, await workTable.take(), notes],
    ['failed', undefined, []],
  );
});

onEachQueue(
  'a failed job begins anew, once however often it is asked for, and ends like any other',
  async (open) => {
    const jobParts = await open();
    const { jobs, workTable, database } = jobParts;
    const { call, retry, notes } = handlersOf(jobParts);
    const { job } = await jobs.create(newJob());
    const first = await taken(workTable);
    await workTable.saveStep(first, 0, { results: '["old"]', cursor: '{"at":60}', audioS: 60 });
    await workTable.fail(first, failure, false);
    assert.equal((await call(ADMIN, 'GET', `/v1/admin/jobs/${job.id}`)).json.retryable, true);
    const answers = await Promise.all([retry(job.id), retry(job.id), retry(job.id)]);
    for (const { status, json } of answers) {
      assert.deepEqual(
        [status, json.state, json.attempts, json.audio_analysed, json.file_progress, json.finished_at],
        [200, 'queued', 1, 0, 0, null],
      );
      assert.deepEqual([json.retryable, json.error.key], [false, 'FETCH_FAILED']);
    }
    assert.deepEqual(notes, [{ event: 'job_retried', jobId: job.id, account: 'a', by: 'user admin-1' }]);
    const second = await taken(workTable);
    assert.equal(await workTable.take(), undefined, 'it is in the queue once');
    assert.equal((await retry(job.id)).json.state, 'running');
    assert.deepEqual(
      [second.job.id, second.job.attempts, second.cursor, second.savedSteps, JSON.parse(second.job.source)],
      [job.id, 2, undefined, 0, { object: OBJECT }],
    );
    for await (const results of workTable.savedResults(job.id))
      assert.fail(`${results} is of the try before`);
    await workTable.saveStep(second, 0, { results: '["new"]', cursor: '{"at":60}', audioS: 60 });
    await workTable.succeed(second, { result: '{}', audioS: 70 });
    const after = await jobs.get('a', job.id);
    assert.deepEqual([after?.state, after?.failure, after?.source], ['succeeded', undefined, '{}']);
    const [usage] = await new UsageTable(database).read();
    assert.deepEqual([usage?.requests, usage?.errors, usage?.audioS], [2, 1, 70]);
  },
);

onEachQueue('a job that used up its tries gets five more', async (open) => {
  const jobParts = await open();
  const { jobs, workTable } = jobParts;
  const { retry } = handlersOf(jobParts);
  const { job } = await jobs.create(newJob());
  const exhaust = async (): Promise<number> => {
    for (let tries = 1; ; tries++) {
      if (!(await workTable.fail(await taken(workTable), failure, true))) return tries;
    }
  };
  assert.equal(await exhaust(), 5);
  await retry(job.id);
  assert.equal(await exhaust(), 5);
  assert.equal((await jobs.findOne(job.id))?.attempts, 10);
});

onEachQueue(
  'the account stays within its limit of jobs, and nothing happens without the audit',
  async (open) => {
    const jobParts = await open({ maxUnfinished: 1 });
    const { jobs, workTable } = jobParts;
    const { call, retry, notes, audit } = handlersOf(jobParts);
    const id = await failed(jobParts);
    const { job: other } = await jobs.create(newJob());
    assert.equal((await retry(id)).key, 'TOO_MANY_JOBS');
    audit.fails = true;
    await assert.rejects(call(ADMIN, 'POST', `/v1/admin/jobs/${other.id}/cancel`), /disk is full/);
    assert.equal((await jobs.findOne(other.id))?.state, 'queued');
    audit.fails = false;
    const { json } = await call(someone('developer', 'a'), 'POST', `/v1/admin/jobs/${other.id}/cancel`);
    assert.equal(json.state, 'cancelled');
    audit.fails = true;
    await assert.rejects(retry(id), /disk is full/);
    assert.deepEqual([(await jobs.findOne(id))?.state, await workTable.take()], ['failed', undefined]);
    assert.deepEqual(notes, [
      { event: 'job_cancelled', jobId: other.id, account: 'a', by: 'user developer-1' },
    ]);
  },
);

onEachQueue('the webhook of an earlier end is withdrawn, and the next end has its own', async (open) => {
  const jobParts = await open();
  const { jobs, workTable, deliveryWorkTable } = jobParts;
  const { call, retry } = handlersOf(jobParts);
  const id = await failed(jobParts, { callbackUrl: 'https://hooks.example/end?secret=1' });
  const sending = (await deliveryWorkTable.take()) ?? assert.fail('there is a delivery');
  await retry(id);
  const path = `/v1/admin/jobs/${id}/deliveries`;
  assert.deepEqual((await call(ADMIN, 'GET', path)).json, { deliveries: [] });
  // Its sender learns of it when it is done.
  assert.equal(await deliveryWorkTable.succeed(sending, { atMs: 0, tookMs: 1, status: 200 }), false);
  assert.equal(await deliveryWorkTable.take(), undefined);
  await workTable.succeed(await taken(workTable), { result: '{}', audioS: 1 });
  const next = (await deliveryWorkTable.take()) ?? assert.fail('there is a delivery');
  assert.notEqual(next.delivery.id, sending.delivery.id);
  const job = (await jobs.findOne(id)) ?? assert.fail();
  assert.equal(JSON.parse(await webhookBody(jobs, job)).type, 'job.succeeded');
});

onEachQueue(
  'webhooks are listed with their attempts and sent again, by those whose they are',
  async (open) => {
    const jobParts = await open();
    const { deliveryWorkTable } = jobParts;
    const { call, notes, audit } = handlersOf(jobParts);
    const jobId = await failed(jobParts, { callbackUrl: 'https://hooks.example/end?secret=1' });
    const turn = (await deliveryWorkTable.take()) ?? assert.fail('there is a delivery');
    const attempt = { atMs: 1_700_000_000_000, tookMs: 12.3, status: 410, problem: 'status 410' };
    await deliveryWorkTable.fail(turn, attempt, { isFinal: true });
    const { id } = turn.delivery;
    const [listed] = (await call(ADMIN, 'GET', '/v1/admin/deliveries?state=failed&account=a')).json
      .deliveries;
    const { created_at, finished_at, ...rest } = listed;
    assert.ok(created_at <= finished_at);
    assert.deepEqual(rest, {
      id,
      job_id: jobId,
      account: 'a',
      url: 'https://hooks.example/end',
      state: 'failed',
      next_attempt_at: null,
      attempt_count: 1,
      attempts: [{ at: '2023-11-14T22:13:20.000Z', took_ms: 12, status: 410, problem: 'status 410' }],
    });
    assert.deepEqual((await call(ADMIN, 'GET', `/v1/admin/jobs/${jobId}/deliveries`)).json.deliveries, [
      listed,
    ]);
    assert.deepEqual((await call(ADMIN, 'GET', '/v1/admin/deliveries?state=delivered')).json.deliveries, []);
    const path = `/v1/admin/deliveries/${id}/replay`;
    const stranger = someone('developer', 'other');
    assert.deepEqual((await call(stranger, 'GET', '/v1/admin/deliveries')).json.deliveries, []);
    assert.equal((await call(stranger, 'POST', path)).key, 'DELIVERY_NOT_FOUND');
    assert.equal(
      (await call(ADMIN, 'POST', `/v1/admin/deliveries/${jobId}/replay`)).key,
      'DELIVERY_NOT_FOUND',
    );
    audit.fails = true;
    await assert.rejects(call(ADMIN, 'POST', path), /disk is full/);
    assert.equal(await deliveryWorkTable.take(), undefined);
    audit.fails = false;
    for (let i = 0; i < 2; i++) {
      const { json } = await call(ADMIN, 'POST', path);
      assert.deepEqual([json.id, json.state, json.attempt_count], [id, 'waiting', 1]);
    }
    assert.equal((await deliveryWorkTable.take())?.delivery.id, id);
    assert.equal(await deliveryWorkTable.take(), undefined, 'it is in the queue once');
    assert.deepEqual(notes, [
      { event: 'webhook_replayed', deliveryId: id, account: 'a', by: 'user admin-1' },
    ]);
  },
);

onEachQueue('lists are of all accounts or of one, in pages and by what is asked for', async (open) => {
  const jobParts = await open();
  const { jobs } = jobParts;
  const { call } = handlersOf(jobParts);
  const made: string[] = [];
  for (const [i, account] of ['a', 'b', 'a', 'b', 'a'].entries()) {
    const { job } = await jobs.create(newJob({ account, keyId: `key_${i}` }));
    made.unshift(job.id);
  }
  const ids = async (query: string, who = ADMIN): Promise<string[]> => {
    const seen: string[] = [];
    let cursor = '';
    do {
      const { json } = await call(
        who,
        'GET',
        `/v1/admin/jobs?limit=2${query}${cursor && `&cursor=${cursor}`}`,
      );
      seen.push(...json.jobs.map(({ id }: { id: string }) => id));
      cursor = json.next_cursor ?? '';
    } while (cursor !== '');
    return seen;
  };
  assert.deepEqual((await ids('')).toSorted(), made.toSorted());
  const ofA = await ids('&account=a');
  assert.equal(ofA.length, 3);
  assert.deepEqual(await ids('', someone('viewer', 'a')), ofA);
  assert.equal((await call(someone('viewer', 'a'), 'GET', '/v1/admin/jobs?account=b')).key, 'FIELD_INVALID');
  await jobs.cancel('a', ofA[0] ?? '');
  assert.deepEqual(await ids('&state=cancelled'), [ofA[0]]);
  assert.deepEqual(await ids('&task=enroll'), []);
  assert.deepEqual(await ids('&key=key_1'), [made[3]]);
  for (const query of ['limit=101', 'state=dead', 'task=none', 'key=%00', 'cursor=abc', 'account=-']) {
    assert.equal((await call(ADMIN, 'GET', `/v1/admin/jobs?${query}`)).key, 'FIELD_INVALID', query);
  }
});

onEachQueue(
  'one job shows its file, its parameters and its verdict, but no voiceprint and no link',
  async (open) => {
    const jobParts = await open();
    const { jobs, workTable } = jobParts;
    const { call } = handlersOf(jobParts);
    const show = async (id: string, who = ADMIN) => (await call(who, 'GET', `/v1/admin/jobs/${id}`)).json;
    const parameters = JSON.stringify({ ...PARAMETERS, startS: 1, separatesChannels: true });
    const { job: verdict } = await jobs.create(newJob({ parameters }));
    const waiting = await show(verdict.id, someone('viewer', 'a'));
    assert.deepEqual(
      [
        waiting.account,
        waiting.key_id,
        waiting.file,
        waiting.parameters,
        waiting.result,
        waiting.queue_position,
      ],
      [
        'a',
        'key_a',
        { entity: 'analysis', key: 'day/1.flac' },
        { model: 'm', threshold: 0.5, silence_threshold: 80, start: 1, end: null, separate_channels: true },
        null,
        0,
      ],
    );
    await workTable.succeed(await taken(workTable), { result: '{"global":{"score":0.5}}', audioS: 1 });
    assert.deepEqual((await show(verdict.id)).result, { global: { score: 0.5 } });
    const secret = '{"link":"https://storage.example/secret"}';
    const { job: voice } = await jobs.create(newJob({ task: 'enroll', source: secret, parameters: '{}' }));
    assert.equal((await show(voice.id)).file, null);
    await workTable.succeed(await taken(workTable), { result: '{"embedding":[0.1]}', audioS: 1 });
    const shown = await show(voice.id);
    assert.deepEqual([shown.state, shown.result, shown.parameters], ['succeeded', null, null]);
    assert.ok(!JSON.stringify(shown).includes('storage.example'));
  },
);

test('a page follows the list and a job over HTTP, and the server that stops ends both', async (t) => {
  const server = await startJobServer(t, { jobWorkers: 0 });
  await server.store('a', Buffer.from('any bytes'));
  const admin = new AdminClient({ baseUrl: server.origin, apiKey: ADMIN_API_KEY });
  const create = async (): Promise<string> => (await server.call('POST', '/v1/jobs', { key: 'a' })).json.id;
  const list = admin.followJobs({ account: 'one', limit: 5 });
  const next = async () => (await list.next()).value ?? assert.fail('the list goes on');
  assert.deepEqual((await next()).jobs, []);
  const id = await create();
  assert.deepEqual(
    (await next()).jobs.map((job) => [job.id, job.state, job.account]),
    [[id, 'queued', 'one']],
  );
  const job = admin.followJob(id);
  assert.equal((await job.next()).value?.state, 'queued');
  assert.equal((await admin.cancelJob(id)).state, 'cancelled');
  assert.equal((await job.next()).value?.state, 'cancelled');
  assert.equal((await job.next()).done, true);
  assert.equal((await next()).jobs[0]?.state, 'cancelled');
  assert.equal((await admin.getJob(id)).id, id);
  assert.deepEqual((await admin.listJobs({ state: 'cancelled' })).jobs.length, 1);
  assert.deepEqual((await admin.listJobDeliveries(id)).deliveries, []);
  await assert.rejects(admin.retryJob(id), (error) => error instanceof VeravoxError && error.status === 400);
  await list.return(undefined);
  const raw = await fetch(`${server.origin}/v1/admin/jobs/events`, {
    headers: { 'x-api-key': ADMIN_API_KEY },
  });
  assert.equal(raw.headers.get('content-type'), 'text/event-stream');
  const stopped = server.server.stop();
  assert.match(await raw.text(), /^retry: 2000\nevent: jobs\ndata: \{"jobs":\[/);
  await stopped;
});
