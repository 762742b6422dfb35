// SPDX-License-Identifier: Apache-2.0
//
// Batches from a client's view, from the manifest to the result. The analyses are doubles.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Config } from '../../src/base/config/options.js';
import { recordingEnd } from '../support/analyser-double.js';
import { eventually } from '../support/eventually.js';
import { type JobServer, startJobServer } from '../support/job-server.js';
import { KEY_WITHOUT_SCOPE, OTHER_API_KEY } from '../support/test-keys.js';

const FILE = Buffer.from('any bytes');

interface ResultLine {
  readonly line: number;
  readonly key?: string;
  readonly presigned_url?: string;
  readonly state: string;
  readonly error: { readonly key: string } | null;
  readonly result: { readonly prediction_id: string; readonly global: object } | null;
}

async function start(t: TestContext, overrides: Partial<Config> = {}): Promise<JobServer> {
  const server = await startJobServer(t, { jobWorkers: 4, ...overrides });
  await server.store('a', FILE);
  return server;
}

async function created(server: JobServer, body: object): Promise<string> {
  const { status, json, headers } = await server.call('POST', '/v1/batches', body);
  assert.equal(status, 202, JSON.stringify(json));
  assert.equal(headers.location, `/v1/jobs/${json.id}`);
  return String(headers.location);
}

async function ended(server: JobServer, job: string) {
  await eventually(async () => (await server.call('GET', job)).json.finished_at !== null, 'the batch ends');
  return (await server.call('GET', job)).json;
}

async function resultOf(server: JobServer, key: string): Promise<ResultLine[]> {
  const links = await server.call('GET', `/v1/file?key_prefix=${encodeURIComponent(key)}&entity=results`);
  const text = await (await fetch(links.json.url[0].value)).text();
  assert.ok(text.endsWith('\n'));
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

const csv = (...keys: string[]): string => ['key', ...keys, ''].join('\n');

test('a bad request makes no batch', async (t) => {
  const server = await start(t);
  for (const [body, key] of [
    [{}, 'FIELD_INVALID'],
    [{ lines: csv('a'), key: 'a' }, 'FIELD_INVALID'],
    [{ lines: '' }, 'FIELD_INVALID'],
    [{ lines: 7 }, 'FIELD_INVALID'],
    [{ lines: csv('a'), result_key: '../a' }, 'FIELD_INVALID'],
    [{ lines: csv('a'), threshold: 2 }, 'FIELD_INVALID'],
    [{ lines: csv('a'), callback_url: 'https://elsewhere.example/' }, 'WEBHOOK_HOST_REFUSED'],
    [{ presigned_url: 'https://elsewhere.example/list.csv' }, 'FETCH_HOST_REFUSED'],
  ] as const) {
    const answer = await server.call('POST', '/v1/batches', body);
    assert.deepEqual([answer.status, answer.headers['x-error-key']], [400, key], JSON.stringify(body));
  }
  assert.equal(
    (await server.call('POST', '/v1/batches', { lines: csv('a') }, KEY_WITHOUT_SCOPE)).status,
    403,
  );
  assert.deepEqual((await server.call('GET', '/v1/jobs')).json.jobs, []);
});

test('a manifest that cannot be used fails with its reason, and none of its lines is analysed', async (t) => {
  const server = await start(t, { maxBatchLines: 3 });
  await server.store('binary.csv', Buffer.from([0xff, 0xfe, 0x00]));
  await server.store('empty.csv', Buffer.from(' \n\n'));
  for (const [body, pattern] of [
    [{ lines: csv('a', 'a', 'a', 'a') }, /more than 3 lines/],
    [{ lines: 'path,label\na,b\n' }, /neither key nor presigned_url/],
    [{ lines: 'key,entity\na,b,c\n' }, /not CSV/],
    [{ lines: 'key\n"a\n' }, /not CSV/],
    [{ lines: 'key\n' }, /no lines/],
    [{ key: 'binary.csv' }, /not UTF-8/],
    [{ key: 'empty.csv' }, /empty/],
  ] as const) {
    const { state, error, batch } = await ended(server, await created(server, body));
    assert.deepEqual([state, error.key, batch.succeeded], ['failed', 'MANIFEST_INVALID', 0]);
    assert.match(error.message, pattern);
  }
  assert.equal(server.analyser.running, 0);
});

test('each line has its verdict or its error, in the order of the manifest', async (t) => {
  const server = await start(t);
  const link = await server.store('b', FILE);
  const lines = [
    { key: 'a', prediction_id: 'mine' },
    { presigned_url: link },
    { key: 'missing' },
    { key: '../etc/passwd' },
    { presigned_url: 'https://elsewhere.example/a.wav?X-Amz-Signature=secret' },
    {},
    { key: 'a', presigned_url: link },
  ];
  const text = `${lines.map((line) => JSON.stringify(line)).join('\n\n')}\nno JSON\n["a"]`;
  const job = await created(server, { lines: text, threshold: 0.99 });
  const { state, result, batch, file_progress, audio_analysed } = await ended(server, job);
  assert.deepEqual([state, result, file_progress, audio_analysed], ['succeeded', null, 1, 20]);
  assert.deepEqual([batch.lines, batch.succeeded, batch.failed], [9, 2, 7]);
  assert.equal(batch.result_key, `batches/${job.slice('/v1/jobs/'.length)}.jsonl`);
  const ends = await resultOf(server, batch.result_key);
  assert.deepEqual(
    ends.map(({ line }) => line),
    [1, 2, 3, 4, 5, 6, 7, 8, 9],
  );
  assert.deepEqual(
    ends.map(({ error }) => error?.key ?? null),
    [
      null,
      null,
      'OBJECT_NOT_FOUND',
      'FIELD_INVALID',
      'FETCH_HOST_REFUSED',
      'FIELD_INVALID',
      'FIELD_INVALID',
      'JSON_MALFORMED',
      'JSON_MALFORMED',
    ],
  );
  assert.deepEqual([ends[0]?.key, ends[0]?.result?.prediction_id], ['a', 'mine']);
  assert.equal(ends[1]?.presigned_url, link.replace(/\?.*/, ''));
  assert.ok(!JSON.stringify(ends).includes('X-Amz-Signature'), 'no signatures');
  // The source of its lines is gone.
  assert.deepEqual(await server.database.query('SELECT id FROM jobs WHERE batch_id IS NOT NULL'), []);
});

test('a stored CSV with quotes, a mark and empty cells is read; its result has the wanted key', async (t) => {
  const server = await start(t);
  await server.store('say "hi", all', FILE);
  await server.store('c', FILE, 'other');
  const manifest = '\u{FEFF}key,entity,note\r\n"say ""hi"", all",,first\r\nc,other,"a\nb"\r\n\r\n';
  const link = await server.store('list.csv', Buffer.from(manifest));
  for (const source of [{ key: 'list.csv' }, { presigned_url: link }]) {
    const { state, batch } = await ended(
      server,
      await created(server, { ...source, result_key: 'out/r.jsonl' }),
    );
    assert.deepEqual([state, batch.result_key, batch.succeeded], ['succeeded', 'out/r.jsonl', 2]);
    const ends = await resultOf(server, 'out/r.jsonl');
    assert.deepEqual(
      ends.map(({ key }) => key),
      ['say "hi", all', 'c'],
    );
  }
});

test('single jobs go before the lines of a batch, and a batch is one job of its account', async (t) => {
  const server = await start(t, { jobWorkers: 1, accountMaxJobs: 2 });
  const order: string[] = [];
  let release = (): void => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  t.after(release);
  server.analyser.recordingSteps = async function* ({ model, source }) {
    order.push(source.bytes === FILE.length ? 'line' : 'single');
    await held;
    yield recordingEnd(model);
  };
  await server.store('single', Buffer.from('other bytes'));
  const job = await created(server, { lines: csv(...Array(150).fill('a')) });
  await eventually(() => order.length === 1, 'a line is in work');
  const single = await server.call('POST', '/v1/jobs', { key: 'single' });
  assert.deepEqual([single.status, single.json.queue_position], [202, 0]);
  assert.equal((await server.call('POST', '/v1/jobs', { key: 'single' })).status, 429, 'two are all');
  assert.equal((await server.call('GET', '/v1/jobs')).json.jobs.length, 2);
  release();
  const { batch } = await ended(server, job);
  assert.deepEqual([batch.lines, batch.succeeded], [150, 150]);
  assert.equal(order.indexOf('single'), 1);
});

test('cancelling a batch ends its lines; other accounts cannot see it', async (t) => {
  const server = await start(t, { jobWorkers: 1 });
  let isStopped = false;
  server.analyser.recordingSteps = async function* ({ signal, model }) {
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    isStopped = true;
    signal.throwIfAborted();
    yield recordingEnd(model);
  };
  const job = await created(server, { lines: csv('a', 'a', 'a') });
  await eventually(
    async () =>
      (await server.database.query("SELECT id FROM jobs WHERE batch_id IS NOT NULL AND state = 'running'"))
        .length === 1,
    'a line is in work',
  );
  assert.equal((await server.call('GET', job, undefined, OTHER_API_KEY)).status, 404);
  const [line] = await server.database.query<{ id: string }>(
    'SELECT id FROM jobs WHERE batch_id IS NOT NULL',
  );
  assert.equal(
    (await server.call('GET', `/v1/jobs/${line?.id}`)).status,
    404,
    'lines are no jobs of clients',
  );
  const { json } = await server.call('DELETE', job);
  assert.deepEqual(
    [json.state, json.batch],
    ['cancelled', { lines: 3, succeeded: 0, failed: 3, result_key: null }],
  );
  await eventually(() => isStopped, 'its worker stops');
  assert.deepEqual(
    await server.database.query("SELECT id FROM jobs WHERE state IN ('waiting', 'queued', 'running')"),
    [],
  );
});

test('the same idempotency_key is the same batch; an account has a limited number', async (t) => {
  const server = await start(t, { jobWorkers: 0, accountMaxBatches: 1 });
  const job = await created(server, { lines: csv('a'), idempotency_key: 'k' });
  assert.equal(await created(server, { lines: csv('a'), idempotency_key: 'k' }), job);
  const reused = await server.call('POST', '/v1/batches', { lines: csv('b'), idempotency_key: 'k' });
  assert.equal(reused.headers['x-error-key'], 'IDEMPOTENCY_KEY_REUSED');
  const more = await server.call('POST', '/v1/batches', { lines: csv('a') });
  assert.deepEqual([more.status, more.headers['x-error-key']], [429, 'TOO_MANY_JOBS']);
});

test('a server that stops leaves the batch to the next', async (t) => {
  const server = await start(t, { jobWorkers: 0 });
  const job = await created(server, { lines: csv('a', 'a') });
  await eventually(async () => (await server.call('GET', job)).json.batch.lines === 2, 'it is read');
  await server.server.stop();
  const work = await server.jobParts.batchWorkTable.take();
  assert.deepEqual([work?.linesRead, work?.job.attempts], [2, 1]);
});
