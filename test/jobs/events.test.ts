// SPDX-License-Identifier: Apache-2.0
//
// `GET /v1/jobs/{id}/events`: the state of a job as server-sent events.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import net from 'node:net';
import { type TestContext, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { promisify } from 'node:util';
import { VeravoxClient } from '../../client/src/index.js';
import type { JobTable } from '../../src/jobs/queue/job-table.js';
import { JobWatch } from '../../src/jobs/routes/job-watch.js';
import { recordingEnd } from '../support/analyser-double.js';
import { eventually } from '../support/eventually.js';
import { type JobServer, startJobServer } from '../support/job-server.js';
import { API_KEY, OTHER_API_KEY, testAuthenticator } from '../support/test-keys.js';

const run = promisify(execFile);
const FILE = Buffer.from('any bytes');

async function jobOf(server: JobServer): Promise<string> {
  await server.store('a.wav', FILE);
  return (await server.call('POST', '/v1/jobs', { key: 'a.wav' })).json.id;
}

const eventsPath = (id: string): string => `/v1/jobs/${id}/events`;

/** Lets the test decide when the analysis ends. */
function held(server: JobServer): { release(): void } {
  let release = (): void => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  server.analyser.recordingSteps = async function* (request) {
    request.onProgress?.({ decodedS: 60, fileProgress: 0.5 });
    await released;
    yield recordingEnd(request.model);
  };
  return { release };
}

function follow(t: TestContext, server: JobServer, id: string, apiKey = API_KEY) {
  const stop = new AbortController();
  t.after(() => stop.abort());
  return fetch(`${server.origin}${eventsPath(id)}`, {
    headers: { 'x-api-key': apiKey },
    signal: stop.signal,
  });
}

test('clients that come and go while the database is asked do not multiply its questions', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const asked: (() => void)[] = [];
  const table = {
    find: () => new Promise((resolve) => asked.push(() => resolve([]))),
    positions: async () => new Map(),
    follow: () => () => {},
  };
  const watch = new JobWatch(table as unknown as JobTable);
  let leave = watch.add('a', () => {});
  t.mock.timers.tick(1000);
  for (let i = 1; i <= 3; i++) {
    assert.equal(asked.length, i);
    leave();
    leave = watch.add('a', () => {});
    asked[i - 1]?.();
    await nextTurn();
    t.mock.timers.tick(1000);
  }
  assert.equal(asked.length, 4);
  leave();
});

test('curl shows the states of a job, until it has ended', async (t) => {
  const server = await startJobServer(t);
  const analysis = held(server);
  const id = await jobOf(server);
  const following = run('curl', [
    ...['--silent', '--show-error', '--include', '--no-buffer', '--header', `x-api-key: ${API_KEY}`],
    `${server.origin}${eventsPath(id)}`,
  ]);
  await eventually(async () => (await server.metric('veravox_event_streams')) === 1, 'it follows');
  await eventually(
    async () => (await server.call('GET', `/v1/jobs/${id}`)).json.file_progress === 0.5,
    'progress is saved',
  );
  analysis.release();
  const { stdout } = await following;
  const [head = '', ...events] = stdout.trimEnd().split(/\r?\n\r?\n/);
  assert.match(head, /^HTTP\/1\.1 200 OK\r\n/);
  assert.match(head, /^content-type: text\/event-stream\r?$/m);
  assert.match(head, /^cache-control: no-store\r?$/m);
  assert.match(events[0] ?? '', /^retry: \d+\nevent: job\ndata: \{/);
  const jobs = events.map((event) => JSON.parse(/^data: (.*)$/m.exec(event)?.[1] ?? ''));
  assert.equal(jobs.at(-1).state, 'succeeded');
  assert.ok(jobs.length >= 2);
  const {
    result: _,
    webhook: __,
    batch: ___,
    ...summary
  } = (await server.call('GET', `/v1/jobs/${id}`)).json;
  assert.deepEqual(jobs.at(-1), summary);
  await eventually(async () => (await server.metric('veravox_event_streams')) === 0, 'nothing is left');
});

test('the state of a job that has ended comes at once, and the stream ends', async (t) => {
  const server = await startJobServer(t);
  const id = await jobOf(server);
  await eventually(
    async () => (await server.call('GET', `/v1/jobs/${id}`)).json.state === 'succeeded',
    'it ends',
  );
  const events = await (await follow(t, server, id)).text();
  assert.equal(events.match(/^event: job$/gm)?.length, 1);
  assert.match(events, /"state":"succeeded"/);
});

test('the jobs of others cannot be followed, nor those that do not exist', async (t) => {
  const server = await startJobServer(t, { jobWorkers: 0 });
  const id = await jobOf(server);
  for (const [one, key] of [
    [id, OTHER_API_KEY],
    ['0b5c2f6e-8f0e-4c55-9d4f-2f1d5a3c7e90', API_KEY],
    [`${id}%2Fa`, API_KEY],
  ] as const) {
    const answer = await follow(t, server, one, key);
    assert.deepEqual([answer.status, answer.headers.get('x-error-key')], [404, 'JOB_NOT_FOUND'], one);
  }
  assert.equal((await server.call('GET', `/v1/jobs/${id}/x/events`)).status, 404);
});

test('a cancelled job ends its streams, and changes come without waiting for the next look', async (t) => {
  const server = await startJobServer(t, { jobWorkers: 0 });
  const id = await jobOf(server);
  const client = new VeravoxClient({ baseUrl: server.origin, apiKey: API_KEY, maxRetries: 0 });
  const states: string[] = [];
  for await (const { state } of client.followJob(id)) {
    states.push(state);
    if (states.length === 1) void server.call('DELETE', `/v1/jobs/${id}`);
  }
  assert.deepEqual(states, ['queued', 'cancelled']);
});

test('streams take no permit of requests; one key has its share of them', async (t) => {
  const server = await startJobServer(t, {
    jobWorkers: 0,
    maxInflightRequests: 2,
    keyConcurrency: 1,
    maxEventStreams: 4,
    keySharePercent: 50,
  });
  const id = await jobOf(server);
  const open = await Promise.all(Array.from({ length: 2 }, () => follow(t, server, id)));
  assert.deepEqual(
    open.map(({ status }) => status),
    [200, 200],
  );
  const refused = await follow(t, server, id);
  assert.equal(refused.status, 429, await refused.text());
  assert.equal(await server.metric('veravox_requests_in_flight'), 0);
  assert.equal((await server.call('GET', `/v1/jobs/${id}`)).status, 200);
  await open[0]?.body?.cancel();
  await eventually(async () => (await follow(t, server, id)).status === 200, 'a place is free again');
});

test('clients that leave or read nothing leave nothing behind', async (t) => {
  const server = await startJobServer(t, { jobWorkers: 0, receiveTimeoutMs: 1000 });
  const id = await jobOf(server);
  const sockets = Array.from({ length: 20 }, () => net.connect(server.port, '127.0.0.1'));
  for (const socket of sockets) {
    socket.on('error', () => {});
    await once(socket, 'connect');
    socket.write(`GET ${eventsPath(id)} HTTP/1.1\r\nhost: a\r\nx-api-key: ${API_KEY}\r\n\r\n`);
  }
  await eventually(async () => (await server.metric('veravox_event_streams')) === 20, 'all follow');
  sockets.forEach((socket, i) => {
    if (i % 2 === 0) socket.destroy();
    else socket.resetAndDestroy();
  });
  await eventually(async () => (await server.metric('veravox_event_streams')) === 0, 'all are gone');
});

test('a server that stops ends its streams, and the client goes on at the next one', async (t) => {
  const server = await startJobServer(t, { jobWorkers: 0, stopDrainMs: 60_000 });
  const id = await jobOf(server);
  const events = await follow(t, server, id);
  const reading = events.text();
  await server.server.stop();
  const text = await reading;
  assert.match(text, /"state":"queued"/);
  assert.doesNotMatch(text, /"finished_at":"/);
});

test('a stream ends with its key, before the next state', async (t) => {
  const revoked = new Set<string>();
  const find = (id: string) => (revoked.has(id) ? undefined : testAuthenticator.find(id));
  const server = await startJobServer(t, { jobWorkers: 0 }, { keys: { ...testAuthenticator, find } });
  const id = await jobOf(server);
  const events = await follow(t, server, id);
  revoked.add('key-1');
  await server.call('DELETE', `/v1/jobs/${id}`);
  const text = await events.text();
  assert.match(text, /"state":"queued"/);
  assert.doesNotMatch(text, /"state":"cancelled"/);
  await eventually(async () => (await server.metric('veravox_event_streams')) === 0, 'nothing is left');
});

test('many changes do not become many questions, and each follower gets the last state', async (t) => {
  const server = await startJobServer(t, { jobWorkers: 0 });
  const id = await jobOf(server);
  const streams = await Promise.all(Array.from({ length: 20 }, () => follow(t, server, id)));
  const { jobs } = server.jobParts;
  let questions = 0;
  const { find } = jobs;
  jobs.find = (ids) => {
    questions++;
    return find.call(jobs, ids);
  };
  for (let i = 0; i < 30; i++) {
    const other = await server.call('POST', '/v1/jobs', { key: 'a.wav' });
    await server.call('DELETE', `/v1/jobs/${other.json.id}`);
  }
  const asked = questions;
  await server.call('DELETE', `/v1/jobs/${id}`);
  for (const stream of streams) assert.match(await stream.text(), /"state":"cancelled"[^\n]*\n\n$/);
  assert.ok(asked < 30, `${asked} questions`);
});
