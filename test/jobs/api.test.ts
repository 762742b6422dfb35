// SPDX-License-Identifier: Apache-2.0
//
// /v1/jobs from a client's view, from the refusal of bad requests to the result. The analyses are doubles.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { RecordingRequest, RecordingStep } from '../../src/analysis/analyser/recording.js';
import type { Config } from '../../src/base/config/options.js';
import type { RequestRecord } from '../../src/base/observe/request-record.js';
import { recordingEnd } from '../support/analyser-double.js';
import { eventually } from '../support/eventually.js';
import { type JobServer, startJobServer } from '../support/job-server.js';
import { noPoints } from '../support/server-parts.js';
import { KEY_WITHOUT_SCOPE, OTHER_API_KEY } from '../support/test-keys.js';

const FILE = Buffer.from('any bytes');
const NO_SUCH_JOB = '/v1/jobs/0b5c2f6e-8f0e-4c55-9d4f-2f1d5a3c7e90';

/** No job begins. */
const idle: Partial<Config> = { jobWorkers: 0 };

async function created(server: JobServer, body: object = { key: 'a' }): Promise<string> {
  const answer = await server.call('POST', '/v1/jobs', body);
  assert.equal(answer.status, 202, answer.text);
  return `/v1/jobs/${answer.json.id}`;
}

async function until(server: JobServer, job: string, state: string) {
  let seen: unknown;
  await eventually(async () => {
    seen = (await server.call('GET', job)).json;
    return (seen as { state: string }).state === state;
  }, `the job ${state}`);
  // biome-ignore lint/suspicious/noExplicitAny: tests read arbitrary members of what the server sent
  return seen as any;
}

/** An analysis that ends on command, or stops when it must. */
function hold(server: JobServer, t: TestContext) {
  let release = (): void => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  t.after(release);
  let running = 0;
  server.analyser.recordingSteps = async function* (request): AsyncGenerator<RecordingStep, void, void> {
    running++;
    try {
      await Promise.race([released, aborted(request)]);
      yield recordingEnd(request.model);
    } finally {
      running--;
    }
  };
  return { release, running: () => running };
}

const aborted = ({ signal }: RecordingRequest): Promise<never> =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });

test('what no job can be made of is refused, and nothing is queued', async (t) => {
  const server = await startJobServer(t, { ...idle, maxObjectBytes: 1024 });
  const link = await server.store('a', FILE);
  const refused: [body: object, expected: RegExp][] = [
    [{}, /presigned_url and key/],
    [{ key: 'a', presigned_url: link }, /presigned_url and key/],
    [{ key: '' }, /key/],
    [{ key: '../a' }, /key/],
    [{ key: 7 }, /key/],
    [{ key: 'a', entity: 'No' }, /entity/],
    [{ key: 'a', threshold: 2 }, /threshold/],
    [{ key: 'a', threshold: 'no-such-point' }, /threshold/],
    [{ key: 'a', silence_threshold: -1 }, /silence_threshold/],
    [{ key: 'a', model: 'none' }, /model/],
    [{ key: 'a', prediction_id: 'ü' }, /prediction_id/],
    [{ key: 'a', idempotency_key: 'with space' }, /idempotency_key/],
    [{ presigned_url: 'no link' }, /presigned_url/],
    [{ presigned_url: 'http://169.254.169.254/latest' }, /169\.254/],
    [{ presigned_url: 'file:///etc/passwd' }, /presigned_url/],
    [{ presigned_url: `${link}0` }, /status 403/],
  ];
  for (const [body, expected] of refused) {
    const answer = await server.call('POST', '/v1/jobs', body);
    assert.equal(answer.status, 400, `${JSON.stringify(body)}: ${answer.text}`);
    assert.match(answer.json.message, expected);
    assert.doesNotMatch(answer.text, /Signature/);
  }
  for (const [query, field] of [
    ['state=sleeping', /state/],
    ['limit=0', /limit/],
    ['limit=101', /limit/],
    ['cursor=abc', /cursor/],
    ['state=queued&state=failed', /state/],
  ] as const) {
    const answer = await server.call('GET', `/v1/jobs?${query}`);
    assert.deepEqual([answer.status, field.test(answer.json.message)], [400, true], answer.text);
  }
  assert.deepEqual((await server.call('GET', '/v1/jobs')).json, { jobs: [], next_cursor: null });
});

test('a key without the scope may not use jobs, and no key sees those of other accounts', async (t) => {
  const server = await startJobServer(t, idle);
  await server.store('a', FILE);
  const job = await created(server);
  for (const [method, path] of [
    ['POST', '/v1/jobs'],
    ['GET', '/v1/jobs'],
    ['GET', job],
    ['DELETE', job],
  ] as const) {
    const body = method === 'POST' ? { key: 'a' } : undefined;
    assert.equal((await server.call(method, path, body, KEY_WITHOUT_SCOPE)).status, 403, method + path);
    assert.equal((await server.call(method, path, body, 'unknown')).status, 401, method + path);
  }
  for (const method of ['GET', 'DELETE']) {
    for (const path of [job, NO_SUCH_JOB, '/v1/jobs/x/y']) {
      const answer = await server.call(method, path, undefined, OTHER_API_KEY);
      assert.deepEqual([answer.status, answer.headers['x-error-key']], [404, 'JOB_NOT_FOUND'], path);
    }
  }
  assert.deepEqual((await server.call('GET', '/v1/jobs', undefined, OTHER_API_KEY)).json.jobs, []);
  assert.equal((await server.call('GET', job)).json.state, 'queued');
});

test('a full account is told to wait, and others are not', async (t) => {
  const server = await startJobServer(t, { ...idle, accountMaxJobs: 2 });
  await server.store('a', FILE);
  const first = await created(server);
  await created(server);
  const answer = await server.call('POST', '/v1/jobs', { key: 'a' });
  assert.deepEqual([answer.status, answer.headers['x-error-key']], [429, 'TOO_MANY_JOBS'], answer.text);
  assert.ok(Number(answer.headers['retry-after']) > 0);
  await server.store('a', FILE, 'analysis', OTHER_API_KEY);
  assert.equal((await server.call('POST', '/v1/jobs', { key: 'a' }, OTHER_API_KEY)).status, 202);
  await server.call('DELETE', first);
  await created(server);
});

test('requests at the same time with one idempotency key make one job', async (t) => {
  const server = await startJobServer(t, idle);
  await server.store('a', FILE);
  const body = { key: 'a', idempotency_key: 'day-4711' };
  const answers = await Promise.all(Array.from({ length: 8 }, () => server.call('POST', '/v1/jobs', body)));
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([202]));
  assert.equal(new Set(answers.map(({ json }) => json.id)).size, 1);
  assert.equal((await server.call('GET', '/v1/jobs')).json.jobs.length, 1);
  const other = await server.call('POST', '/v1/jobs', { ...body, threshold: 0.9 });
  assert.deepEqual([other.status, other.headers['x-error-key']], [400, 'IDEMPOTENCY_KEY_REUSED']);
});

test('a job gives the verdict that a request gives', async (t) => {
  const records: RequestRecord[] = [];
  const recorder = { record: (record: RequestRecord) => void records.push(record), close: async () => {} };
  const server = await startJobServer(t, {}, { recorders: [recorder] });
  await server.store('day/4711.flac', FILE);
  const answer = await server.call('POST', '/v1/jobs', {
    key: 'day/4711.flac',
    threshold: 0.9,
    prediction_id: 'mine',
  });
  assert.equal(answer.headers.location, `/v1/jobs/${answer.json.id}`);
  const job = await until(server, `/v1/jobs/${answer.json.id}`, 'succeeded');
  const { processing_time, ...result } = job.result;
  assert.ok(processing_time >= 0);
  assert.deepEqual(result, {
    prediction_id: 'mine',
    global: { score: 0.975, confidence: 0.75, result: 'spoofed', reason: null },
    segments: [
      { start: 0, end: 5, scores: [0.98], confidence: 0.8, result: 'spoofed' },
      { start: 5, end: 10, scores: [0.97], confidence: 0.7, result: 'spoofed' },
    ],
    model: 'apollo-4-5-2026-03-26',
    audio_duration: 10,
    warnings: [],
  });
  assert.deepEqual(
    [job.attempts, job.audio_analysed, job.file_progress, job.queue_position, job.error],
    [1, 10, 1, null, null],
  );
  assert.ok(job.created_at <= job.started_at && job.started_at <= job.finished_at);
  const list = (await server.call('GET', '/v1/jobs?state=succeeded')).json;
  const { result: __, batch: ___, webhook: ____, ...summary } = job;
  assert.deepEqual(list, { jobs: [summary], next_cursor: null });
  // Its audio counts once, for the requesting key.
  const counted = records.filter(({ audioS }) => audioS !== undefined);
  const [record] = counted;
  assert.equal(counted.length, 1);
  assert.deepEqual(
    [record?.route, record?.keyId, record?.account, record?.audioS, record?.scoredWindows, record?.bodyBytes],
    ['job', 'key-1', 'one', 10, 2, FILE.length],
  );
  assert.equal(await server.metric('veravox_job_turns_total{outcome="succeeded"}'), 1);
  assert.equal(await server.metric('veravox_job_audio_seconds_total'), 10);
  assert.equal(await server.metric('veravox_jobs{state="queued"}'), 0);
});

test('a link to the own storage is read without a request, also after its end', async (t) => {
  // Long enough for use on a slow machine, since it counts whole seconds.
  const server = await startJobServer(t, { storageLinkLifetimeS: 5 });
  const held = hold(server, t);
  const link = await server.store('a', FILE);
  // Occupies the only worker.
  await created(server);
  const job = await created(server, { presigned_url: link });
  await eventually(async () => (await fetch(link)).status === 403, 'the link ends');
  held.release();
  await until(server, job, 'succeeded');
});

test('a job that cannot succeed says why, and is not tried again', async (t) => {
  const server = await startJobServer(t, { maxJobBytes: 1024 });
  await server.store('large', Buffer.alloc(1025));
  const large = await until(server, await created(server, { key: 'large' }), 'failed');
  assert.deepEqual([large.error.key, large.attempts, large.result], ['FILE_TOO_LARGE', 1, null]);
  assert.equal(await server.metric('veravox_job_turns_total{outcome="failed"}'), 1);
});

test('an analysis that breaks is tried again', async (t) => {
  const server = await startJobServer(t);
  await server.store('a', FILE);
  let tries = 0;
  let goOn = (): void => {};
  const isSeen = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  t.after(() => goOn());
  server.analyser.recordingSteps = async function* (request): AsyncGenerator<RecordingStep, void, void> {
    if (++tries === 1) throw new Error('A thread died.');
    await isSeen;
    yield recordingEnd(request.model);
  };
  const job = await created(server);
  await eventually(async () => (await server.call('GET', job)).json.attempts === 2, 'the second try begins');
  goOn();
  const { attempts, error } = await until(server, job, 'succeeded');
  assert.deepEqual([attempts, error, tries], [2, null, 2]);
});

test('cancelling ends a queued job at once and a running one soon; an ended one stays', async (t) => {
  const server = await startJobServer(t);
  const held = hold(server, t);
  const link = await server.store('a', FILE);
  const running = await created(server, { presigned_url: link });
  await until(server, running, 'running');
  const waiting = await created(server);
  assert.equal((await server.call('GET', waiting)).json.queue_position, 0);
  for (const job of [waiting, running]) {
    const { status, json } = await server.call('DELETE', job);
    assert.deepEqual([status, json.state, json.result], [200, 'cancelled', null]);
  }
  await eventually(() => held.running() === 0, 'its worker stops');
  held.release();
  const next = await created(server);
  await until(server, next, 'succeeded');
  assert.equal((await server.call('DELETE', next)).json.state, 'succeeded');
  assert.equal((await server.call('GET', running)).json.state, 'cancelled');
});

test('models that are replaced do not answer running jobs', async (t) => {
  const server = await startJobServer(t);
  const held = hold(server, t);
  await server.store('a', FILE);
  const job = await created(server);
  await eventually(() => held.running() === 1, 'the job runs');
  const { AnalyserDouble } = await import('../support/analyser-double.js');
  const next = new AnalyserDouble(server.arena);
  server.server.replaceModels(next, noPoints);
  const { attempts } = await until(server, job, 'succeeded');
  assert.deepEqual([attempts, held.running()], [1, 0]);
  await eventually(() => server.analyser.closed, 'the old models are closed');
});

test('a server that stops gives its jobs back', async (t) => {
  const server = await startJobServer(t);
  const held = hold(server, t);
  await server.store('a', FILE);
  const job = await created(server);
  await eventually(() => held.running() === 1, 'the job runs');
  await server.server.stop();
  const left = await server.jobParts.jobs.get('one', job.slice('/v1/jobs/'.length));
  assert.deepEqual([left?.state, left?.attempts], ['queued', 0]);
});

test('without the database, jobs are refused and other requests are not', async (t) => {
  const server = await startJobServer(t, idle);
  await server.store('a', FILE);
  const job = await created(server);
  await server.database.close();
  for (const [method, path, body] of [
    ['POST', '/v1/jobs', { key: 'a' }],
    ['GET', '/v1/jobs', undefined],
    ['GET', job, undefined],
    ['DELETE', job, undefined],
  ] as const) {
    const answer = await server.call(method, path, body);
    assert.deepEqual([answer.status, answer.headers['x-error-key']], [503, 'DATABASE_UNAVAILABLE'], path);
  }
  assert.equal((await server.call('GET', '/metrics')).status, 200);
  await server.store('a', FILE);
});
