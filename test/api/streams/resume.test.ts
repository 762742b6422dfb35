// SPDX-License-Identifier: Apache-2.0
//
// A stream continues after its connection was lost.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { ReadyMessage } from '../../../src/base/contract/stream.js';
import { ServiceError } from '../../../src/base/errors/service-error.js';
import type { RequestRecord } from '../../../src/base/observe/request-record.js';
import { eventually } from '../../support/eventually.js';
import { StreamClient } from '../../support/stream-client.js';
import { OTHER_API_KEY } from '../../support/test-keys.js';
import { startTestServer } from '../../support/test-server.js';
import { until } from '../../support/until.js';

const QUERY = '/v1/stream?encoding=pcm16&sample_rate=16000';

async function serve(t: TestContext) {
  const clock = { nowMs: 0 };
  const records: RequestRecord[] = [];
  const recorder = { record: (record: RequestRecord) => void records.push(record), close: async () => {} };
  const server = await startTestServer(t, {}, { streamClockMs: () => clock.nowMs, recorders: [recorder] });
  const client = await StreamClient.open(server.port, { path: QUERY });
  const ready = await client.next('ready');
  const live = server.analyser.liveStreams[0];
  assert.ok(live);
  return { ...server, clock, records, client, ready, live };
}

async function resume(
  port: number,
  { session_id, secret }: Pick<ReadyMessage, 'session_id' | 'secret'>,
  events = 0,
) {
  const client = await StreamClient.open(port);
  client.say({ type: 'resume', session_id, secret, events });
  return client;
}

const refusalOf = async (client: StreamClient) => (await client.ended()).key;

test('the stream goes on where it was, and missed events come again', async (t) => {
  const { port, client, ready, live, records, metric } = await serve(t);
  client.audio(new Uint8Array(320));
  client.audio(new Uint8Array(640));
  await until(() => live.pieces.length === 2);
  live.tellWindow(0, 0.9);
  await client.next('window');
  client.vanish();
  await until(() => client.isClosed);
  while ((await metric('veravox_streams_away')) !== 1);
  live.tellWindow(1, 0.8);
  const again = await resume(port, ready, 1);
  const resumed = await again.next('resumed');
  assert.deepEqual([resumed.samples, resumed.messages], [480, 2]);
  assert.equal((await again.next('window')).event, 1);
  again.audio(new Uint8Array(320));
  again.say({ type: 'end' });
  await until(() => live.isFinished);
  assert.equal(live.pieces.length, 3);
  again.vanish();
  await until(() => again.isClosed);
  while ((await metric('veravox_streams_away')) !== 1);
  live.tellEnd(10);
  const last = await resume(port, ready, 2);
  assert.equal((await last.next('result')).events, 2);
  assert.equal((await last.ended()).code, 1000);
  assert.equal(records.length, 1);
  assert.equal(records[0]?.status, 200);
});

test('the end of a stream can be asked for again', async (t) => {
  const { port, client, ready, live, records, clock, metric } = await serve(t);
  client.audio(new Uint8Array(320));
  await until(() => live.pieces.length === 1);
  live.tellWindow(0, 0.9);
  client.say({ type: 'end' });
  await until(() => live.isFinished);
  live.tellEnd(5);
  const result = await client.next('result');
  assert.equal((await client.ended()).code, 1000);
  assert.equal(await metric('veravox_streams'), 0);
  await eventually(async () => {
    const keptBytes = await metric('veravox_client_memory_bytes');
    return keptBytes > 0 && keptBytes < 8192;
  }, 'only its end is kept');
  for (let i = 0; i < 2; i++) {
    const again = await resume(port, ready);
    assert.equal((await again.next('resumed')).samples, 160);
    // As a client does that cannot know.
    again.audio(new Uint8Array(320));
    again.say({ type: 'end' });
    assert.equal((await again.next('window')).event, 0);
    assert.deepEqual(await again.next('result'), result);
    assert.equal((await again.ended()).code, 1000);
  }
  const wrong = await resume(port, { ...ready, secret: 'x' });
  assert.equal(await refusalOf(wrong), 'STREAM_UNKNOWN');
  clock.nowMs = 61_000;
  assert.equal(await refusalOf(await resume(port, ready)), 'STREAM_UNKNOWN');
  await eventually(async () => (await metric('veravox_client_memory_bytes')) === 0, 'it is forgotten');
  assert.equal(records.filter(({ status }) => status === 200).length, 1);
});

test('an error that ended a stream can be asked for again, unless it is one to try again after', async (t) => {
  for (const [reason, told] of [
    ['INTERNAL', 'INTERNAL'],
    ['OVERLOADED', 'STREAM_UNKNOWN'],
  ] as const) {
    const { port, client, ready, live, metric } = await serve(t);
    client.vanish();
    while ((await metric('veravox_streams_away')) !== 1);
    live.request.onEvent({ kind: 'failed', reason: new ServiceError(reason) });
    assert.equal(await refusalOf(await resume(port, ready)), told);
  }
});

test('an end that comes again after a lost connection changes nothing', async (t) => {
  const { port, client, ready, live, metric } = await serve(t);
  client.audio(new Uint8Array(320));
  client.say({ type: 'end' });
  await until(() => live.isFinished);
  client.vanish();
  while ((await metric('veravox_streams_away')) !== 1);
  const again = await resume(port, ready);
  await again.next('resumed');
  again.say({ type: 'end' });
  again.say({ type: 'end' });
  live.tellWindow(0, 0.9);
  await again.next('window');
  live.tellEnd(5);
  assert.equal((await again.next('result')).events, 1);
});

test('a wrong secret, key or number of events resumes nothing', async (t) => {
  const { port, client, ready } = await serve(t);
  const wrong = await resume(port, { ...ready, secret: `${ready.secret.slice(0, -1)}!` });
  assert.equal(await refusalOf(wrong), 'STREAM_UNKNOWN');
  const other = await StreamClient.open(port, { headers: { 'x-api-key': OTHER_API_KEY } });
  other.say({ type: 'resume', session_id: ready.session_id, secret: ready.secret, events: 0 });
  assert.equal(await refusalOf(other), 'STREAM_UNKNOWN');
  assert.equal(client.isClosed, false);
});

test('after 30 s the stream is gone, and recorded as left', async (t) => {
  const { port, client, ready, clock, records, live, metric } = await serve(t);
  client.vanish();
  while ((await metric('veravox_streams_away')) !== 1);
  clock.nowMs = 29_000;
  const inTime = await resume(port, ready);
  await inTime.next('resumed');
  inTime.vanish();
  while ((await metric('veravox_streams_away')) !== 1);
  clock.nowMs = 60_000;
  assert.equal(await refusalOf(await resume(port, ready)), 'STREAM_UNKNOWN');
  await until(() => live.isClosed);
  assert.deepEqual(
    records.filter(({ audioS }) => audioS !== undefined).map(({ status, errorKey }) => [status, errorKey]),
    [[499, undefined]],
  );
});

test('of two connections the later one has the stream', async (t) => {
  const { port, client, ready, live } = await serve(t);
  const second = await resume(port, ready);
  await second.next('resumed');
  assert.deepEqual(await client.ended(), { key: 'STREAM_TAKEN_OVER', code: 4409 });
  assert.equal(live.isClosed, false);
  second.audio(new Uint8Array(320));
  await until(() => live.pieces.length === 1);
});

test('a stream of another process is told from one that is over', async (t) => {
  const first = await serve(t);
  const second = await serve(t);
  assert.equal(await refusalOf(await resume(second.port, first.ready)), 'STREAM_ELSEWHERE');
  const unknown = { session_id: 'x'.repeat(40), secret: 'x' };
  assert.equal(await refusalOf(await resume(second.port, unknown)), 'STREAM_UNKNOWN');
});

test('a client that says goodbye may come back, too', async (t) => {
  const { port, client, ready } = await serve(t);
  client.socket.end();
  await until(() => client.isClosed);
  await (await resume(port, ready)).next('resumed');
});
