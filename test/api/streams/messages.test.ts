// SPDX-License-Identifier: Apache-2.0
//
// GET /v1/stream: client errors and their answers.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { Ajv } from 'ajv';
import type { Config } from '../../../src/base/config/options.js';
import { serverMessages } from '../../../src/base/contract/stream.js';
import type { RequestRecord } from '../../../src/base/observe/request-record.js';
import { eventually } from '../../support/eventually.js';
import { request } from '../../support/http-client.js';
import { splicedAnalysis } from '../../support/spliced-analysis.js';
import { StreamClient } from '../../support/stream-client.js';
import { API_KEY, KEY_WITHOUT_SCOPE, OTHER_API_KEY, testAuthenticator } from '../../support/test-keys.js';
import { startTestServer, type TestParts } from '../../support/test-server.js';
import { until } from '../../support/until.js';

const QUERY = '/v1/stream?encoding=pcm16&sample_rate=16000';
const ajv = new Ajv({ allowUnionTypes: true });
const isServerMessage = ajv.compile({ anyOf: serverMessages });

async function serve(t: TestContext, overrides: Partial<Config> = {}, parts: TestParts = {}) {
  const records: RequestRecord[] = [];
  const recorder = { record: (record: RequestRecord) => void records.push(record), close: async () => {} };
  const server = await startTestServer(t, overrides, { recorders: [recorder], ...parts });
  return { ...server, records };
}

async function assertEnds(client: StreamClient, key: string, code: number): Promise<void> {
  assert.deepEqual(await client.ended(), { key, code });
  for (const message of client.messages)
    assert.ok(isServerMessage(message), ajv.errorsText(isServerMessage.errors));
}

test('ordinary requests are told to upgrade', async (t) => {
  const { port } = await serve(t);
  const { status, headers } = await request(port, '/v1/stream', { headers: { 'x-api-key': API_KEY } });
  assert.deepEqual([status, headers['x-error-key']], [426, 'UPGRADE_REQUIRED']);
});

test('keys are checked before the connection becomes a WebSocket', async (t) => {
  const { port } = await serve(t);
  const connect = (headers: Record<string, string>) => StreamClient.connect(port, { headers });
  assert.deepEqual(await connect({ 'x-api-key': '' }), { status: 401, key: 'UNAUTHORIZED' });
  assert.deepEqual(await connect({ 'x-api-key': 'wrong' }), { status: 401, key: 'UNAUTHORIZED' });
  assert.deepEqual(await connect({ 'x-api-key': KEY_WITHOUT_SCOPE }), { status: 403, key: 'FORBIDDEN' });
  assert.ok((await connect({ 'x-api-key': '', authorization: `Bearer ${API_KEY}` })) instanceof StreamClient);
});

test('a ticket opens one stream, and nothing else', async (t) => {
  const { port } = await serve(t);
  const answer = await request(port, '/v1/stream/tickets', {
    method: 'POST',
    headers: { 'x-api-key': API_KEY },
  });
  assert.equal(answer.status, 200);
  assert.equal(answer.headers['cache-control'], 'no-store');
  const { ticket } = answer.json;
  const headers = {
    'x-api-key': '',
    'sec-websocket-protocol': `veravox.v1, veravox.ticket.${ticket}`,
  };
  const forged = {
    ...headers,
    'sec-websocket-protocol': `veravox.v1, veravox.ticket.${ticket.slice(0, -1)}`,
  };
  assert.deepEqual(await StreamClient.connect(port, { headers: forged }), {
    status: 401,
    key: 'UNAUTHORIZED',
  });
  const predicted = await request(port, '/v1/predict', { method: 'POST', headers });
  assert.equal(predicted.status, 401);
  const client = await StreamClient.open(port, { headers });
  assert.match(client.head, /sec-websocket-protocol: veravox\.v1\r\n/i);
  assert.ok(!client.head.includes(ticket));
  assert.deepEqual(await StreamClient.connect(port, { headers }), { status: 401, key: 'UNAUTHORIZED' });
});

test('pages of other origins are refused', async (t) => {
  const { port } = await serve(t, { corsOrigins: ['https://app.example'] });
  const from = (origin: string) => StreamClient.connect(port, { headers: { origin } });
  assert.deepEqual(await from('https://evil.example'), { status: 403, key: 'ORIGIN_REFUSED' });
  assert.ok((await from('https://app.example')) instanceof StreamClient);
  assert.ok((await from(`http://127.0.0.1:${port}`)) instanceof StreamClient);
});

test('bad parameters are named', async (t) => {
  const { port } = await serve(t);
  for (const query of [
    'encoding=mp3',
    'encoding=pcm16',
    'encoding=pcm16&sample_rate=7999',
    'encoding=pcm16&sample_rate=16000.5',
    'encoding=pcm16&sample_rate=16000&channels=2',
    'encoding=opus&sample_rate=16000',
    'encoding=opus&pre_skip=-1',
    'encoding=mulaw&channels=2',
    'encoding=alaw&pre_skip=312',
    'encoding=mulaw&sample_rate=7999',
    'encoding=pcm16&sample_rate=16000&threshold=2',
    'encoding=pcm16&sample_rate=16000&model=unknown',
    'encoding=pcm16&sample_rate=16000&threshold=no-such-point',
  ]) {
    const client = await StreamClient.open(port, { path: `/v1/stream?${query}` });
    await assertEnds(client, 'FIELD_INVALID', 4400);
  }
  const client = await StreamClient.open(port);
  client.say({ type: 'start', encoding: 'pcm16', sample_rate: '8k' });
  await assertEnds(client, 'FIELD_INVALID', 4400);
});

test('messages of the wrong kind, form or time end the stream', async (t) => {
  const { port, analyser } = await serve(t);
  const cases: [string, (client: StreamClient) => void, string, number][] = [
    [QUERY, (client) => client.say('hello'), 'JSON_MALFORMED', 4400],
    [QUERY, (client) => client.say({ type: 'stop' }), 'STREAM_MESSAGE_INVALID', 4400],
    [QUERY, (client) => client.say({ type: 'end', now: 1 }), 'STREAM_MESSAGE_INVALID', 4400],
    [QUERY, (client) => client.say({ type: 'start', encoding: 'opus' }), 'STREAM_MESSAGE_INVALID', 4400],
    [QUERY, (client) => client.audio(new Uint8Array(321)), 'STREAM_MESSAGE_INVALID', 4400],
    [QUERY, (client) => client.say('x'.repeat(20_000)), 'STREAM_MESSAGE_TOO_LARGE', 4413],
    [QUERY, (client) => client.say({ type: 'end' }), 'AUDIO_TOO_SHORT', 4400],
    ['/v1/stream', (client) => client.audio(new Uint8Array(320)), 'STREAM_MESSAGE_INVALID', 4400],
    ['/v1/stream', (client) => client.say({ type: 'end' }), 'STREAM_MESSAGE_INVALID', 4400],
    [
      '/v1/stream',
      (client) => client.say({ type: 'resume', session_id: 'x' }),
      'STREAM_MESSAGE_INVALID',
      4400,
    ],
    ['/v1/stream?encoding=opus', (client) => client.audio(new Uint8Array(0)), 'STREAM_MESSAGE_INVALID', 4400],
    [
      '/v1/stream?encoding=opus',
      (client) => client.audio(Uint8Array.of(3, 0)),
      'STREAM_MESSAGE_INVALID',
      4400,
    ],
  ];
  for (const [path, misbehave, key, code] of cases) {
    const client = await StreamClient.open(port, { path });
    misbehave(client);
    await assertEnds(client, key, code);
  }
  const client = await StreamClient.open(port, { path: QUERY });
  client.audio(new Uint8Array(320));
  client.say({ type: 'end' });
  client.audio(new Uint8Array(320));
  await assertEnds(client, 'STREAM_MESSAGE_INVALID', 4400);
  assert.ok(analyser.liveStreams.every(({ isClosed }) => isClosed));
});

test('messages that are larger than any may be end the connection', async (t) => {
  const { port } = await serve(t);
  const client = await StreamClient.open(port, { path: QUERY });
  const { max_message_bytes: maxBytes } = await client.next('ready');
  client.audio(new Uint8Array(maxBytes));
  await client.next('received');
  client.audio(new Uint8Array(maxBytes + 2));
  await until(() => client.isClosed);
});

test('high rates get fewer seconds, so that no stream keeps more bytes than others', async (t) => {
  const { port } = await serve(t, { streamBufferS: 3 });
  const waiting = async (rateHz: number) => {
    const path = `/v1/stream?encoding=pcm16&sample_rate=${rateHz}`;
    const client = await StreamClient.open(port, { path });
    const { max_waiting_s: seconds } = await client.next('ready');
    for (let i = 0; i <= 2 * seconds; i++) client.audio(new Uint8Array(rateHz));
    await assertEnds(client, 'STREAM_TOO_FAST', 4429);
    return seconds;
  };
  assert.deepEqual([await waiting(16_000), await waiting(48_000), await waiting(192_000)], [3, 3, 1]);
});

test('a client that sends faster than its audio is analysed is cut off', async (t) => {
  const { port } = await serve(t, { streamBufferS: 5 });
  const client = await StreamClient.open(port, { path: QUERY });
  const ready = await client.next('ready');
  assert.equal(ready.max_waiting_s, 5);
  for (let i = 0; i < 6; i++) client.audio(new Uint8Array(32_000));
  await assertEnds(client, 'STREAM_TOO_FAST', 4429);
  assert.equal((await client.next('received', 5)).waiting_s, 5);
});

test('windows come as verdicts, the last message is the result, and the stream is recorded once', async (t) => {
  const { port, analyser, records, metric } = await serve(t);
  const path = `${QUERY}&threshold=0.7&prediction_id=mine&model=apollo-4-2025-10-20`;
  const client = await StreamClient.open(port, { path });
  const ready = await client.next('ready');
  assert.deepEqual(
    [ready.prediction_id, ready.model, ready.threshold, ready.sample_rate],
    ['mine', 'apollo-4-2025-10-20', 0.7, 16000],
  );
  assert.equal(await metric('veravox_streams'), 1);
  for (let i = 0; i < 20; i++) client.audio(new Uint8Array(16_000));
  const [live] = analyser.liveStreams;
  await until(() => live?.pieces.length === 20);
  live?.tellWindow(0, 0.9);
  live?.request.onEvent({ kind: 'skipped', window: { startS: 5, endS: 10, nonSpeechPercent: 99.5 } });
  client.say({ type: 'end' });
  await until(() => live?.isFinished === true);
  live?.tellWindow(1, 0.1);
  live?.tellEnd(10);
  const result = await client.next('result');
  assert.deepEqual(result.global, {
    score: 0.5,
    confidence: 0.761905,
    result: 'bonafide',
    reason: null,
  });
  assert.ok(!('stretches' in result) && !('contains_generated' in result));
  assert.deepEqual([result.events, result.audio_duration, result.prediction_id], [3, 10, 'mine']);
  const second = await client.next('window', 2);
  assert.deepEqual([second.event, second.global.windows, second.global.score], [2, 2, 0.5]);
  assert.equal((await client.next('skipped')).event, 1);
  assert.equal((await client.next('received', 5)).samples, 80_000);
  assert.deepEqual(await client.ended(), { key: undefined, code: 1000 });
  for (const message of client.messages)
    assert.ok(isServerMessage(message), ajv.errorsText(isServerMessage.errors));
  const ours = records.filter(({ route }) => route === 'stream');
  assert.equal(ours.length, 1);
  const [record] = ours;
  assert.deepEqual(
    [record?.status, record?.audioS, record?.scoredWindows, record?.bodyBytes, record?.keyId],
    [200, 10, 2, 320_000, 'key-1'],
  );
  assert.equal(await metric('veravox_streams'), 0);
});

test('a stream says where it contains generated speech, if it is asked', async (t) => {
  const { port, analyser } = await serve(t);
  for (const [query, isAsked] of [
    [QUERY, false],
    [`${QUERY}&detail=stretches`, true],
  ] as const) {
    const client = await StreamClient.open(port, { path: query });
    await client.next('ready');
    client.audio(new Uint8Array(16_000));
    const live = analyser.liveStreams.at(-1);
    assert.ok(live);
    const { windows, closerWindows = [] } = splicedAnalysis;
    for (const [i, { scores }] of windows.entries()) live.tellWindow(i, scores[0] as number);
    client.say({ type: 'end' });
    await until(() => live.isFinished);
    live.tellEnd(60, { closerWindows });
    const { global, contains_generated, stretches } = await client.next('result');
    assert.equal(global.reason, 'mixed_content');
    assert.equal(contains_generated, isAsked ? true : undefined);
    assert.deepEqual(
      stretches?.map(({ start, end }) => [start, end]),
      isAsked ? [[30.5, 34]] : undefined,
    );
    for (const message of client.messages)
      assert.ok(isServerMessage(message), ajv.errorsText(isServerMessage.errors));
  }
  const refused = await StreamClient.open(port, { path: `${QUERY}&detail=windows` });
  await assertEnds(refused, 'FIELD_INVALID', 4400);
});

test('failures of the analysis reach the client', async (t) => {
  const { port, analyser } = await serve(t);
  const silent = await StreamClient.open(port, { path: QUERY });
  silent.audio(new Uint8Array(320));
  silent.say({ type: 'end' });
  await until(() => analyser.liveStreams[0]?.isFinished === true);
  analyser.liveStreams[0]?.tellEnd(10);
  await assertEnds(silent, 'NO_SPEECH', 4422);
  const broken = await StreamClient.open(port, { path: QUERY });
  await broken.next('ready');
  analyser.liveStreams[1]?.request.onEvent({ kind: 'failed', reason: new Error('secret') });
  await assertEnds(broken, 'INTERNAL', 4500);
  assert.ok(!JSON.stringify(broken.messages).includes('"secret"}'));
});

test('connections of streams are limited in all and per key, before they say anything', async (t) => {
  const { port } = await serve(t, { maxStreams: 4, keySharePercent: 50 });
  const connect = (key: string) => StreamClient.connect(port, { headers: { 'x-api-key': key } });
  const first = await StreamClient.open(port);
  await StreamClient.open(port, { path: QUERY });
  assert.deepEqual(await connect(API_KEY), { status: 429, key: 'CONCURRENCY_LIMITED' });
  assert.ok((await connect(OTHER_API_KEY)) instanceof StreamClient);
  first.vanish();
  await eventually(async () => (await connect(API_KEY)) instanceof StreamClient, 'The place is free again');
  const none = await startTestServer(t, { maxStreams: 0 });
  assert.deepEqual(await StreamClient.connect(none.port), { status: 503, key: 'OVERLOADED' });
});

test('streams without a connection count, too', async (t) => {
  const { port, metric } = await serve(t, { maxStreams: 1 });
  const first = await StreamClient.open(port, { path: QUERY });
  await first.next('ready');
  first.vanish();
  await eventually(async () => (await metric('veravox_streams_away')) === 1, 'It is away');
  await assertEnds(await StreamClient.open(port, { path: QUERY }), 'OVERLOADED', 4503);
});

test('a client that does not read is cut off', async (t) => {
  const { port, analyser, records } = await serve(t);
  const client = await StreamClient.open(port, { path: QUERY });
  await client.next('ready');
  client.socket.pause();
  const [live] = analyser.liveStreams;
  for (let i = 0; i < 200_000 && live?.isClosed === false; i++) {
    live.tellWindow(i, 0.5);
    if (i % 1000 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  assert.equal(live?.isClosed, true);
  await until(() => records.length === 1);
  assert.equal(records[0]?.errorKey, 'STREAM_NOT_READ');
  client.socket.resume();
});

test('a slow client still gets a large result, and all events before it', async (t) => {
  const { port, analyser, records } = await serve(t);
  const client = await StreamClient.open(port, { path: QUERY });
  await client.next('ready');
  client.audio(new Uint8Array(32_000));
  client.say({ type: 'end' });
  await until(() => analyser.liveStreams[0]?.isFinished === true);
  client.socket.pause();
  const [live] = analyser.liveStreams;
  for (let i = 0; i < 500; i++) live?.tellWindow(i, 0.5);
  // More than the system takes.
  const skipped = Array.from({ length: 60_000 }, (_, i) => ({
    startS: 10 * i,
    endS: 10 * i + 5,
    nonSpeechPercent: 90,
    windows: [],
  }));
  live?.tellEnd(1_000_000, { skipped });
  await until(() => records.length === 1);
  client.socket.resume();
  const { warnings, events } = await client.next('result');
  await client.finished;
  assert.deepEqual([events, client.closeCode], [500, 1000]);
  assert.ok(warnings.length >= 60_000);
});

test('a stream whose audio is over is not idle, however long the rest takes', async (t) => {
  let nowMs = 0;
  const { port, analyser } = await serve(t, { streamIdleTimeoutS: 60 }, { streamClockMs: () => nowMs });
  const client = await StreamClient.open(port, { path: QUERY });
  const idle = await StreamClient.open(port, { path: QUERY });
  client.audio(new Uint8Array(32_000));
  client.say({ type: 'end' });
  await until(() => analyser.liveStreams.some(({ isFinished }) => isFinished));
  nowMs = 61_000;
  await assertEnds(idle, 'STREAM_IDLE', 4408);
  const over = analyser.liveStreams.find(({ isFinished }) => isFinished);
  over?.tellWindow(0, 0.5);
  over?.tellEnd(5);
  await client.next('result');
});

test('idle streams and long ones end', async (t) => {
  let nowMs = 0;
  const limits = { streamIdleTimeoutS: 60, maxStreamDurationS: 100 };
  const { port } = await serve(t, limits, { streamClockMs: () => nowMs });
  const idle = await StreamClient.open(port, { path: QUERY });
  await idle.next('ready');
  const long = await StreamClient.open(port, { path: QUERY });
  await long.next('ready');
  nowMs = 59_000;
  for (let i = 0; i < 2; i++) long.audio(new Uint8Array(32_000));
  await long.next('received', 2);
  nowMs = 61_000;
  await assertEnds(idle, 'STREAM_IDLE', 4408);
  nowMs = 101_000;
  await assertEnds(long, 'STREAM_TOO_LONG', 4413);
  const much = await StreamClient.open(port, { path: '/v1/stream?encoding=pcm16&sample_rate=8000' });
  for (let i = 0; i < 2; i++) much.audio(new Uint8Array(256_000));
  await assertEnds(much, 'STREAM_TOO_FAST', 4429);
});

/** A masked ping without content, which the client class does not send. */
const PING = Buffer.from([0x89, 0x80, 0, 0, 0, 0]);
const floods: readonly [what: string, flood: (client: StreamClient) => void][] = [
  ['pings', ({ socket }) => socket.write(Buffer.concat(Array(20_000).fill(PING)))],
  [
    'empty messages',
    (client) => {
      for (let i = 0; i < 20_000; i++) client.audio(new Uint8Array(0));
    },
  ],
];
for (const [what, flood] of floods) {
  test(`a flood of ${what} ends the connection`, async (t) => {
    const { port } = await serve(t);
    const client = await StreamClient.open(port, { path: QUERY });
    await client.next('ready');
    flood(client);
    await client.finished;
  });
}

test('audio in many small messages at once is taken', async (t) => {
  const { port } = await serve(t);
  const client = await StreamClient.open(port, { path: '/v1/stream?encoding=mulaw&sample_rate=8000' });
  await client.next('ready');
  for (let i = 0; i < 6000; i++) client.audio(new Uint8Array(16));
  await client.next('received', 12);
  assert.equal(client.isClosed, false);
});

test('a stream ends with its key', async (t) => {
  const revoked = new Set<string>();
  const find = (id: string) => (revoked.has(id) ? undefined : testAuthenticator.find(id));
  const { port } = await serve(t, {}, { keys: { ...testAuthenticator, find } });
  const client = await StreamClient.open(port, { path: QUERY });
  await client.next('ready');
  const other = await StreamClient.open(port, { path: QUERY, headers: { 'x-api-key': OTHER_API_KEY } });
  await other.next('ready');
  revoked.add('key-1');
  await assertEnds(client, 'UNAUTHORIZED', 4401);
  assert.equal(other.isClosed, false);
});

test('a stopping server ends streams with a reason, and begins none', async (t) => {
  const { port, server, records } = await serve(t, { stopGraceMs: 2000 });
  const client = await StreamClient.open(port, { path: QUERY });
  await client.next('ready');
  const waiting = await StreamClient.open(port);
  const stopping = server.stop();
  waiting.say({ type: 'start', encoding: 'opus' });
  await assertEnds(waiting, 'STOPPING', 4503);
  await assertEnds(client, 'STOPPING', 4503);
  await stopping;
  assert.equal(records.filter(({ errorKey }) => errorKey === 'STOPPING').length, 2);
});

test('connections of streams are counted as long as they last', async (t) => {
  const { port, metric } = await serve(t);
  for (let i = 0; i < 5; i++) {
    const client = await StreamClient.open(port, { path: QUERY });
    await client.next('ready');
    client.vanish();
  }
  const client = await StreamClient.open(port, { path: QUERY });
  await client.next('ready');
  await eventually(
    async () => (await metric('veravox_connections')) === 2,
    'the stream, and the connection that asks',
  );
});
