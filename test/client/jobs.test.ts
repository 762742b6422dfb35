// SPDX-License-Identifier: Apache-2.0
//
// The client's methods for jobs, against a server whose analyses are doubles.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { enrollmentOf, type Job, VeravoxClient, VeravoxError, verdictOf } from '../../client/src/index.js';
import type { Config } from '../../src/base/config/options.js';
import { someAnalysis } from '../support/analyser-double.js';
import { startJobServer } from '../support/job-server.js';
import { API_KEY } from '../support/test-keys.js';

async function start(t: TestContext, overrides: Partial<Config> = {}) {
  const server = await startJobServer(t, overrides);
  return { server, client: new VeravoxClient({ baseUrl: server.origin, apiKey: API_KEY, maxRetries: 0 }) };
}

test('a job is made, followed to its end and listed', async (t) => {
  const { server, client } = await start(t);
  const presignedUrl = await server.store('a.wav', Buffer.from('any bytes'));
  for (const input of [{ key: 'a.wav' }, { presignedUrl }]) {
    const { id } = await client.createJob(input, { threshold: 0.99, prediction_id: 'mine' });
    const seen: Job['state'][] = [];
    const job = await client.waitForJob(id, { pollMs: 5, onJob: ({ state }) => seen.push(state) });
    const verdict = verdictOf(job);
    assert.deepEqual([job.state, seen.at(-1), verdict?.prediction_id], ['succeeded', 'succeeded', 'mine']);
    assert.equal(verdict?.global.result, 'bonafide');
  }
  const first = await client.listJobs({ state: 'succeeded', limit: 1 });
  const rest = await client.listJobs({ cursor: first.next_cursor ?? assert.fail('no second page') });
  assert.deepEqual([first.jobs.length, rest.jobs.length, rest.next_cursor], [1, 1, null]);
});

test('a voice is enrolled in the background', async (t) => {
  const { server, client } = await start(t);
  server.analyser.answer = () => ({ ...someAnalysis, windows: [{ startS: 0, endS: 5, scores: [0.1] }] });
  await server.store('anna.wav', Buffer.from('any bytes'));
  const { id, task } = await client.createJob({ key: 'anna.wav' }, { task: 'enroll', user_id: 'anna' });
  const job = await client.waitForJob(id, { pollMs: 5 });
  assert.deepEqual([task, job.task, job.state, verdictOf(job)], ['enroll', 'enroll', 'succeeded', null]);
  const direct = await client.enroll(new Blob(['any bytes']));
  assert.deepEqual(enrollmentOf(job)?.embedding, direct.embedding);
});

test('a batch is made of a manifest, and followed like a job', async (t) => {
  const { server, client } = await start(t);
  await server.store('a.wav', Buffer.from('any bytes'));
  await server.store('list.csv', Buffer.from('key\na.wav\nb.wav\n'));
  for (const manifest of [{ lines: '{"key":"a.wav"}\n{"key":"b.wav"}' }, { key: 'list.csv' }]) {
    const { id } = await client.createBatch(manifest, { threshold: 0.99, result_key: 'r.jsonl' });
    const { state, batch } = await client.waitForJob(id, { pollMs: 5 });
    assert.deepEqual(
      [state, batch],
      ['succeeded', { lines: 2, succeeded: 1, failed: 1, result_key: 'r.jsonl' }],
    );
  }
});

test('the same idempotencyKey is the same job; without one, each call makes its own', async (t) => {
  const { server, client } = await start(t, { jobWorkers: 0 });
  await server.store('a', Buffer.from('any bytes'));
  const one = await client.createJob({ key: 'a' }, { idempotencyKey: 'k' });
  const again = await client.createJob({ key: 'a' }, { idempotencyKey: 'k' });
  const other = await client.createJob({ key: 'a' });
  assert.equal(again.id, one.id);
  assert.notEqual(other.id, one.id);
});

test('waiting ends with the job or the signal, and a cancelled job is no error', async (t) => {
  const { server, client } = await start(t, { jobWorkers: 0 });
  await server.store('a', Buffer.from('any bytes'), 'other');
  const { id } = await client.createJob({ key: 'a', entity: 'other' });
  const stop = new AbortController();
  const waiting = client.waitForJob(id, {
    pollMs: 60_000,
    signal: stop.signal,
    onJob: () => stop.abort(new Error('enough')),
  });
  await assert.rejects(waiting, /enough/);
  assert.equal((await client.cancelJob(id)).state, 'cancelled');
  assert.equal((await client.waitForJob(id)).state, 'cancelled');
});

test('an id is never more than an id', async (t) => {
  const { client } = await start(t, { jobWorkers: 0 });
  for (const id of ['0b5c2f6e-8f0e-4c55-9d4f-2f1d5a3c7e90', '../file?entity=a', 'a/b']) {
    await assert.rejects(client.getJob(id), (error: VeravoxError) => {
      assert.ok(error instanceof VeravoxError);
      assert.deepEqual([error.status, error.errorKey], [404, 'JOB_NOT_FOUND'], id);
      return true;
    });
  }
});

test('a connection that brings nothing any more is opened again', async (t) => {
  const summary = (state: string, finishedAt: string | null) =>
    `event: job\ndata: ${JSON.stringify({ state, finished_at: finishedAt })}\n\n`;
  let connections = 0;
  const silent = http.createServer((_, answer) => {
    connections++;
    answer.writeHead(200, { 'content-type': 'text/event-stream' });
    // The first one stays open, as if the host had vanished.
    if (connections === 1) answer.write(summary('running', null));
    else answer.end(`: still here\n\n${summary('succeeded', '2026-11-22T10:00:00.000Z')}`);
  });
  t.after(() => silent.closeAllConnections());
  t.after(() => silent.close());
  silent.listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const { port } = silent.address() as AddressInfo;
  const client = new VeravoxClient({ baseUrl: `http://127.0.0.1:${port}`, apiKey: API_KEY, maxRetries: 1 });
  const states: string[] = [];
  for await (const { state } of client.followJob('0b5c2f6e', { silenceMs: 300 })) states.push(state);
  assert.deepEqual([states, connections], [['running', 'succeeded'], 2]);
});
