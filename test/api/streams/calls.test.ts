// SPDX-License-Identifier: Apache-2.0
//
// Calls from telephony providers: faults and their answers, both legs, and the followers of their events.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Config } from '../../../src/base/config/options.js';
import { packageDir } from '../../../src/base/config/package-dir.js';
import { callParameters } from '../../../src/base/contract/call.js';
import { streamFieldSchemas } from '../../../src/base/contract/stream-fields.js';
import type { RequestRecord } from '../../../src/base/observe/request-record.js';
import { OperatingPoints } from '../../../src/state/operating-points/operating-points.js';
import { skippedWindows, someDetector } from '../../support/analyser-double.js';
import { CallFollower } from '../../support/call-follower.js';
import { eventually } from '../../support/eventually.js';
import { request } from '../../support/http-client.js';
import { someProfile } from '../../support/stored-points.js';
import { StreamClient } from '../../support/stream-client.js';
import { API_KEY, OTHER_API_KEY, PREDICT_API_KEY, testAuthenticator } from '../../support/test-keys.js';
import { startTestServer, type TestParts } from '../../support/test-server.js';
import { until } from '../../support/until.js';

const CALLS = '/v1/stream/calls/';
const SECOND = Buffer.alloc(8000, 0x7f);

async function serve(t: TestContext, overrides: Partial<Config> = {}, parts: TestParts = {}) {
  const records: RequestRecord[] = [];
  const recorder = { record: (record: RequestRecord) => void records.push(record), close: async () => {} };
  const server = await startTestServer(t, overrides, { recorders: [recorder], ...parts });
  return { ...server, records };
}

async function ticketOf(port: number, key = API_KEY): Promise<string> {
  const answer = await request(port, '/v1/stream/tickets', { method: 'POST', headers: { 'x-api-key': key } });
  assert.equal(answer.status, 200);
  return answer.json.ticket;
}

const connect = (port: number, ticket: string, headers: Record<string, string> = {}) =>
  StreamClient.connect(port, { path: CALLS + ticket, headers: { 'x-api-key': '', ...headers } });

async function provider(port: number): Promise<StreamClient> {
  const client = await connect(port, await ticketOf(port));
  assert.ok(client instanceof StreamClient);
  return client;
}

const twilioFormat = { encoding: 'audio/x-mulaw', sampleRate: 8000, channels: 1 };
const connected = { event: 'connected', protocol: 'Call', version: '1.0.0' };
const twilioStart = (mediaFormat: unknown = twilioFormat, customParameters: unknown = {}) => ({
  event: 'start',
  sequenceNumber: '1',
  streamSid: 'MZ1',
  start: {
    accountSid: 'AC1',
    streamSid: 'MZ1',
    callSid: 'CA1',
    tracks: ['inbound', 'outbound'],
    mediaFormat,
    customParameters,
  },
});
const media = (
  track: string | undefined,
  timestamp: unknown,
  payload: unknown = SECOND.toString('base64'),
) => ({
  event: 'media',
  sequenceNumber: '2',
  streamSid: 'MZ1',
  media: { track, chunk: '1', timestamp, payload },
});
const stop = {
  event: 'stop',
  sequenceNumber: '9',
  streamSid: 'MZ1',
  stop: { accountSid: 'AC1', callSid: 'CA1' },
};

async function assertEnds(client: StreamClient, code: number): Promise<void> {
  await client.finished;
  assert.deepEqual([client.closeCode, client.messages], [code, []], 'providers are sent nothing');
}

test('a flood of events without audio ends the connection', async (t) => {
  const { port } = await serve(t);
  const client = await provider(port);
  for (let i = 0; i < 20_000; i++) client.say({ event: 'mark' });
  await client.finished;
  assert.equal(client.closeCode, undefined, 'at once, not as idle');
});

test('a call needs a ticket, which opens one', async (t) => {
  const { port } = await serve(t);
  const ticket = await ticketOf(port);
  const refused = { status: 401, key: 'UNAUTHORIZED' };
  assert.deepEqual(await connect(port, ''), refused);
  assert.deepEqual(await connect(port, `${ticket.slice(0, -1)}!`), refused);
  assert.deepEqual(await connect(port, 'wrong', { 'x-api-key': API_KEY }), refused);
  assert.ok((await connect(port, ticket)) instanceof StreamClient);
  assert.deepEqual(await connect(port, ticket), refused);
  const plain = await request(port, CALLS + (await ticketOf(port)));
  assert.deepEqual([plain.status, plain.headers['x-error-key']], [426, 'UPGRADE_REQUIRED']);
  const foreign = await connect(port, await ticketOf(port), { origin: 'https://evil.example' });
  assert.deepEqual(foreign, { status: 403, key: 'ORIGIN_REFUSED' });
});

test('a call that breaks the protocol ends with a code, its reason in the events', async (t) => {
  const { port, origin, records } = await serve(t);
  const began = [connected, twilioStart()];
  const cases: [string, unknown[], string, number][] = [
    ['no JSON', ['hello'], 'JSON_MALFORMED', 4400],
    ['no event', [{ type: 'start' }], 'STREAM_MESSAGE_INVALID', 4400],
    ['media before start', [connected, media('inbound', '0')], 'STREAM_MESSAGE_INVALID', 4400],
    ['stop before start', [stop], 'STREAM_MESSAGE_INVALID', 4400],
    ['no id', [{ ...twilioStart(), streamSid: undefined }], 'STREAM_MESSAGE_INVALID', 4400],
    ['no format', [{ ...twilioStart(), start: {} }], 'STREAM_MESSAGE_INVALID', 4400],
    ...[
      { ...twilioFormat, encoding: 'audio/x-l16' },
      { ...twilioFormat, encoding: 'OPUS' },
      { ...twilioFormat, sampleRate: 16_000 },
      { ...twilioFormat, channels: 2 },
      null,
    ].map((format): [string, unknown[], string, number] => [
      `format ${JSON.stringify(format)}`,
      [twilioStart(format)],
      'STREAM_MESSAGE_INVALID',
      4400,
    ]),
    ['parameters that are no texts', [twilioStart(twilioFormat, { a: {} })], 'STREAM_MESSAGE_INVALID', 4400],
    ['start twice', [...began, twilioStart()], 'STREAM_MESSAGE_INVALID', 4400],
    ['unknown leg', [...began, media('sideways', '0')], 'STREAM_MESSAGE_INVALID', 4400],
    ...['', 'A', '====', 'AB=C', 'AAAA\n', 'AA-_', 'é', 7, undefined].map(
      (payload): [string, unknown[], string, number] => [
        `payload ${JSON.stringify(payload)}`,
        [...began, { ...media('inbound', '0'), media: { track: 'inbound', timestamp: '0', payload } }],
        'STREAM_MESSAGE_INVALID',
        4400,
      ],
    ),
    ...[-1, '-1', 0.5, '1e3', '', 'soon', 1e15, null, undefined].map(
      (timestamp): [string, unknown[], string, number] => [
        `timestamp ${JSON.stringify(timestamp)}`,
        [...began, media('inbound', timestamp)],
        'STREAM_MESSAGE_INVALID',
        4400,
      ],
    ),
    ['binary audio', [...began, SECOND], 'STREAM_MESSAGE_INVALID', 4400],
    [
      'a large message',
      [...began, media('inbound', '0', Buffer.alloc(20_000).toString('base64'))],
      'STREAM_MESSAGE_TOO_LARGE',
      4413,
    ],
    [
      'a bad parameter',
      [twilioStart(twilioFormat, { threshold: '2' }), media('inbound', '0')],
      'FIELD_INVALID',
      4400,
    ],
    ['no audio', [...began, stop], 'AUDIO_TOO_SHORT', 4400],
  ];
  for (const [what, messages, key, code] of cases) {
    records.length = 0;
    const client = await provider(port);
    for (const message of messages) {
      if (Buffer.isBuffer(message)) client.audio(message);
      else client.say(message);
    }
    await client.finished;
    await until(() => records.some(({ route }) => route === 'stream'));
    const [record] = records.filter(({ route }) => route === 'stream');
    assert.deepEqual([client.closeCode, record?.errorKey, client.messages], [code, key, []], what);
  }
  const last = await CallFollower.open(origin, 'MZ1');
  const [error, end] = await last.ended();
  assert.deepEqual([error?.type === 'error' && error.key, end?.type], ['AUDIO_TOO_SHORT', 'end']);
});

test('a message beyond 256 KiB ends the connection', async (t) => {
  const { port } = await serve(t);
  const client = await provider(port);
  client.say('x'.repeat(300_000));
  await client.finished;
  assert.equal(client.closeCode, undefined);
});

test('the legs of a call are analysed apart, and followers see both', async (t) => {
  const { port, origin, analyser, records, metric } = await serve(t);
  const client = await provider(port);
  client.say(connected);
  client.say(twilioStart(twilioFormat, { prediction_id: 'mine', threshold: '0.7', customer: '7' }));
  client.say(media('inbound', '0'));
  client.say({ event: 'mark', streamSid: 'MZ1', mark: { name: 'greeting' } });
  client.say({ event: 'dtmf', streamSid: 'MZ1', dtmf: { track: 'inbound_track', digit: '1' } });
  client.say({ event: 'of a later version' });
  client.say(media('outbound', '12500', Buffer.alloc(8000, 1).toString('base64')));
  await until(() => analyser.liveStreams.length === 2 && analyser.liveStreams[1]?.pieces.length === 1);
  assert.equal(await metric('veravox_streams'), 2);
  const [inbound, outbound] = analyser.liveStreams;
  assert.ok(inbound && outbound);
  assert.deepEqual(Buffer.concat(inbound.pieces), SECOND);
  assert.deepEqual(Buffer.concat(outbound.pieces), Buffer.alloc(8000, 1));
  const format = { encoding: 'mulaw', sampleRateHz: 8000, channels: 1, preSkip: 0 };
  assert.deepEqual([inbound.request.format, outbound.request.format], [format, format]);

  const follower = await CallFollower.open(origin, 'MZ1');
  inbound.tellWindow(0, 0.9);
  const live = await follower.next('window');
  assert.deepEqual(
    [live.leg, live.start, live.end, live.scores, live.result],
    ['inbound', 0, 5, [0.9], 'spoofed'],
  );
  outbound.tellWindow(0, 0.6);
  const other = await follower.next('window', 'outbound');
  assert.deepEqual([other.start, other.end, other.result], [12.5, 17.5, 'bonafide'], 'times of the call');
  client.say(stop);
  await until(() => inbound.isFinished && outbound.isFinished);
  outbound.tellEnd(5);
  inbound.tellEnd(5);
  await assertEnds(client, 1000);
  const events = await follower.ended();
  assert.deepEqual(
    events.map((event) => [event.type, 'leg' in event ? event.leg : undefined]),
    [
      ['window', 'inbound'],
      ['window', 'outbound'],
      ['result', 'outbound'],
      ['result', 'inbound'],
      ['end', undefined],
    ],
  );
  for (const leg of ['inbound', 'outbound'] as const) {
    assert.equal((await follower.next('result', leg)).prediction_id, `mine:${leg}`);
  }
  const ended = records.filter(({ route }) => route === 'stream');
  assert.deepEqual(
    ended.map(({ status, audioS, keyId }) => [status, audioS, keyId]),
    [
      [200, 1, 'key-1'],
      [200, 1, 'key-1'],
    ],
  );
  assert.equal(await metric('veravox_streams'), 0);

  const late = await CallFollower.open(origin, 'CA1', { 'x-api-key': PREDICT_API_KEY });
  assert.deepEqual(
    await late.ended(),
    events,
    'another key of the account, by the id of the call, after its end',
  );
  assert.deepEqual(late.ids, follower.ids);
  assert.equal(new Set(late.ids).size, 5);
  const back = await CallFollower.open(origin, 'MZ1', { 'last-event-id': String(late.ids[2]) });
  assert.deepEqual(await back.ended(), events.slice(3));
  assert.deepEqual(back.ids, late.ids.slice(3));
});

test('a follower that comes back with an id of an earlier stream of the call gets all of the later one', async (t) => {
  const { port, origin, analyser } = await serve(t);
  const first = await provider(port);
  first.say(twilioStart());
  first.say(media('inbound', '0'));
  await until(() => analyser.liveStreams.length === 1);
  const follower = await CallFollower.open(origin, 'CA1');
  for (let i = 0; i < 3; i++) analyser.liveStreams[0]?.tellWindow(i, 0.1);
  await until(() => follower.events.length === 3);
  first.say(stop);
  const second = await provider(port);
  second.say({ ...twilioStart(), streamSid: 'MZ2' });
  second.say(media('inbound', '0'));
  await until(() => analyser.liveStreams.length === 2);
  analyser.liveStreams[1]?.tellWindow(0, 0.9);
  const back = await CallFollower.open(origin, 'CA1', { 'last-event-id': String(follower.ids[2]) });
  assert.equal((await back.next('window')).result, 'spoofed');
});

test("Telnyx's names and encodings are understood", async (t) => {
  const { port, origin, analyser } = await serve(t);
  const client = await provider(port);
  client.say({ event: 'connected', version: '1.0.0' });
  client.say({
    event: 'start',
    sequence_number: '1',
    stream_id: '32de0dea',
    start: {
      user_id: '3e6f995f',
      call_control_id: 'v2:T02/x',
      media_format: { encoding: 'PCMA', sample_rate: 8000, channels: 1 },
      custom_parameters: { silence_threshold: '60' },
    },
  });
  client.say({
    event: 'media',
    sequence_number: '4',
    stream_id: '32de0dea',
    media: { track: 'outbound', chunk: '2', timestamp: 40, payload: SECOND.toString('base64') },
  });
  await until(() => analyser.liveStreams[0]?.pieces.length === 1);
  const [live] = analyser.liveStreams;
  assert.deepEqual([live?.request.format.encoding, live?.request.silenceThresholdPercent], ['alaw', 60]);
  const follower = await CallFollower.open(origin, 'v2:T02/x');
  live?.tellWindow(0, 0.9);
  assert.equal((await follower.next('window')).leg, 'outbound');
});

test('lost media are silence, and an hour without any takes 5 s', async (t) => {
  const { port, analyser } = await serve(t);
  const client = await provider(port);
  client.say(twilioStart());
  client.say(media('inbound', '0'));
  client.say(media('inbound', '1500'));
  client.say(media('inbound', String(3_600_000)));
  await until(() => analyser.liveStreams[0]?.pieces.length === 5);
  const lengths = analyser.liveStreams[0]?.pieces.map(({ length }) => length);
  assert.deepEqual(lengths, [8000, 4000, 8000, 40_000, 8000]);
  assert.ok(analyser.liveStreams[0]?.pieces[1]?.every((byte) => byte === 0xff));
});

test('times in results are those of the call', async (t) => {
  const { port, origin, analyser } = await serve(t);
  const client = await provider(port);
  client.say(twilioStart(twilioFormat, { detail: 'stretches' }));
  // 5 s of silence stand for the gap of 87.5 s: then the call is 95 s ahead of the audio.
  client.say(media('inbound', '12500'));
  client.say(media('inbound', String(101_000)));
  client.say(stop);
  await until(() => analyser.liveStreams[0]?.isFinished === true);
  const [live] = analyser.liveStreams;
  live?.tellWindow(0, 0.9);
  live?.tellWindow(1, 0.9);
  live?.tellEnd(15, { skipped: [skippedWindows(95, [10, 15])] });
  const { stretches, warnings } = await (await CallFollower.open(origin, 'MZ1')).next('result');
  assert.deepEqual(stretches, [{ start: 12.5, end: 105, score: 0.9, strength: null }]);
  assert.deepEqual(warnings, [
    'Not analysed from 105 s to 110 s: 95.0 percent is not speech, and silence_threshold is 80.',
  ]);
});

test('misspelt parameters are named in the result of each leg', async (t) => {
  const { port, origin, analyser } = await serve(t);
  const client = await provider(port);
  client.say(twilioStart(twilioFormat, { treshold: '0.7' }));
  for (const leg of ['inbound', 'outbound']) client.say(media(leg, '0'));
  client.say(stop);
  await until(
    () => analyser.liveStreams.length === 2 && analyser.liveStreams.every((live) => live.isFinished),
  );
  for (const live of analyser.liveStreams) {
    live.tellWindow(0, 0.6);
    live.tellEnd(5);
  }
  const follower = await CallFollower.open(origin, 'MZ1');
  for (const leg of ['inbound', 'outbound'] as const) {
    const { warnings } = await follower.next('result', leg);
    assert.equal(warnings.length, 1, leg);
    assert.match(warnings[0] ?? '', /treshold.*threshold/);
  }
});

test("parameters named like a stream's format are named in the result, and the format is the provider's", async (t) => {
  const { port, origin, analyser } = await serve(t);
  const client = await provider(port);
  const parameters = { encoding: 'opus', sample_rate: '16000', channels: '2', pre_skip: '312' };
  client.say(twilioStart(twilioFormat, parameters));
  client.say(media('inbound', '0'));
  client.say(stop);
  await until(() => analyser.liveStreams[0]?.isFinished === true);
  const [live] = analyser.liveStreams;
  const format = { encoding: 'mulaw', sampleRateHz: 8000, channels: 1, preSkip: 0 };
  assert.deepEqual(live?.request.format, format);
  live?.tellWindow(0, 0.6);
  live?.tellEnd(5);
  const { warnings } = await (await CallFollower.open(origin, 'MZ1')).next('result');
  assert.deepEqual(
    warnings,
    Object.keys(parameters).map((name) => `The field ${name} has no effect here.`),
  );
});

test('a leg without speech has an error, the other one its result', async (t) => {
  const { port, origin, analyser } = await serve(t);
  const client = await provider(port);
  client.say(twilioStart());
  client.say(media('inbound', '0'));
  client.say(media('outbound', '0'));
  client.say(stop);
  await until(
    () => analyser.liveStreams.length === 2 && analyser.liveStreams.every((live) => live.isFinished),
  );
  const [inbound, outbound] = analyser.liveStreams;
  inbound?.tellEnd(5);
  outbound?.tellWindow(0, 0.2);
  outbound?.tellEnd(5);
  await assertEnds(client, 1000);
  const follower = await CallFollower.open(origin, 'MZ1');
  assert.equal((await follower.next('error', 'inbound')).key, 'NO_SPEECH');
  assert.equal((await follower.next('result', 'outbound')).global.result, 'bonafide');
});

test('a lost call ends like others', async (t) => {
  const { port, origin, analyser } = await serve(t);
  const client = await provider(port);
  client.say(twilioStart());
  client.say(media(undefined, '0'));
  await until(() => analyser.liveStreams[0]?.pieces.length === 1);
  const follower = await CallFollower.open(origin, 'MZ1');
  client.vanish();
  await until(() => analyser.liveStreams[0]?.isFinished === true);
  analyser.liveStreams[0]?.tellWindow(0, 0.9);
  analyser.liveStreams[0]?.tellEnd(5);
  assert.equal((await follower.next('result', 'inbound')).global.result, 'spoofed');
  assert.equal((await follower.ended()).at(-1)?.type, 'end');
});

test('calls of others are unknown', async (t) => {
  const { port } = await serve(t);
  const client = await provider(port);
  client.say(twilioStart());
  const ask = (id: string, key: string) =>
    request(port, `/v1/stream/calls/${id}/events`, { headers: { 'x-api-key': key } });
  for (const [id, key] of [
    ['MZ1', OTHER_API_KEY],
    ['MZ2', API_KEY],
    ['%E0%A4%A', API_KEY],
  ] as const) {
    const { status, headers } = await ask(id, key);
    assert.deepEqual([status, headers['x-error-key']], [404, 'CALL_UNKNOWN'], id);
  }
  assert.equal((await ask('MZ1', 'wrong')).status, 401);
});

test('each leg counts as a stream, the call as a connection', async (t) => {
  const { port } = await serve(t, { maxStreams: 2, keySharePercent: 50 });
  const first = await provider(port);
  assert.deepEqual(await connect(port, await ticketOf(port)), { status: 429, key: 'CONCURRENCY_LIMITED' });
  const other = await connect(port, await ticketOf(port, OTHER_API_KEY));
  assert.ok(other instanceof StreamClient);
  first.say(twilioStart());
  first.say(media('inbound', '0'));
  first.say(media('outbound', '0'));
  await assertEnds(first, 4429);
});

test('a call that stops or breaks leaves its place at once, and its events stay', async (t) => {
  const ends: Record<string, (client: StreamClient) => void> = {
    stop: (client) => client.say(stop),
    'a lost connection': (client) => client.vanish(),
    'a wrong message': (client) => client.say('no JSON'),
  };
  for (const [what, end] of Object.entries(ends)) {
    const { port, origin, analyser, metric } = await serve(t, { maxStreams: 2, keySharePercent: 50 });
    const client = await provider(port);
    client.say(twilioStart());
    client.say(media('inbound', '0'));
    await until(() => analyser.liveStreams[0]?.pieces.length === 1);
    assert.deepEqual(await connect(port, await ticketOf(port)), { status: 429, key: 'CONCURRENCY_LIMITED' });
    end(client);
    // The leg waits for its last window.
    await eventually(
      async () => (await connect(port, await ticketOf(port))) instanceof StreamClient,
      `${what} leaves the place`,
    );
    analyser.liveStreams[0]?.tellEnd(5);
    const follower = await CallFollower.open(origin, 'MZ1');
    assert.equal((await follower.ended()).at(-1)?.type, 'end', what);
    // The other connection counts 320 KiB.
    await eventually(async () => {
      const bytes = await metric('veravox_client_memory_bytes');
      return bytes > 0 && bytes < 330 * 1024;
    }, `after ${what}, only its events count`);
  }
});

test('each parameter of a stream is one of both legs', async (t) => {
  const bound = { model_sha256: someDetector.sha256, fingerprint: someDetector.scoreFingerprint };
  const studio = { ...someProfile, ...bound, model: someDetector.id };
  const operatingPoints = OperatingPoints.of([], [studio]);
  const { port, origin, analyser } = await serve(t, {}, { operatingPoints });
  const page = fs.readFileSync(path.join(packageDir, 'docs/telephony.md'), 'utf8');
  const [, listed = ''] = /`custom_parameters` may have ([\s\S]*?), as for/.exec(page) ?? [];
  const ofProvider = ['encoding', 'sample_rate', 'channels', 'pre_skip'];
  const fields = Object.keys(streamFieldSchemas(analyser.status().detectors));
  const wanted = fields.filter((name) => !ofProvider.includes(name)).sort();
  assert.deepEqual([...callParameters].sort(), wanted);
  assert.deepEqual([...listed.matchAll(/`(\w+)`/g)].map(([, name = '']) => name).sort(), wanted);
  const client = await provider(port);
  client.say(twilioStart(twilioFormat, { detail: 'stretches', threshold: '0.9', profile: 'studio' }));
  for (const leg of ['inbound', 'outbound']) client.say(media(leg, '0'));
  client.say(stop);
  await until(
    () => analyser.liveStreams.length === 2 && analyser.liveStreams.every((live) => live.isFinished),
  );
  for (const live of analyser.liveStreams) {
    live.tellWindow(0, 0.95);
    live.tellEnd(5);
  }
  const follower = await CallFollower.open(origin, 'MZ1');
  for (const leg of ['inbound', 'outbound'] as const) {
    const { global, profile, contains_generated } = await follower.next('result', leg);
    assert.deepEqual(
      [global.result, profile, typeof contains_generated],
      ['spoofed', 'studio', 'boolean'],
      leg,
    );
  }
});

test('audio comes out of the memory of all', async (t) => {
  const { port, metric } = await serve(t);
  const before = await metric('veravox_client_memory_bytes');
  const client = await provider(port);
  client.say(twilioStart());
  for (let i = 0; i < 25; i++) {
    client.say(media('inbound', 1000 * i));
    client.say(media('outbound', 1000 * i));
  }
  // 400 kB of audio, of which 256 KiB per leg are always counted.
  const leastBytes = 2 * (1024 + 256) * 1024 + (256 + 64) * 1024;
  await eventually(
    async () => (await metric('veravox_client_memory_bytes')) - before >= leastBytes,
    'the memory of both legs and the connection is counted',
  );
  for (let i = 25; i < 40; i++) client.say(media('inbound', 1000 * i));
  await assertEnds(client, 4429);
});

test('a call ends without audio, and with the server', async (t) => {
  let nowMs = 0;
  const limits = { streamIdleTimeoutS: 60, stopGraceMs: 2000 };
  const { port, origin, server, analyser } = await serve(t, limits, { streamClockMs: () => nowMs });
  const talks = await provider(port);
  talks.say(twilioStart());
  talks.say(media('outbound', '0'));
  talks.say(media('inbound', '0'));
  await until(() => analyser.liveStreams.length === 2);
  const follower = await CallFollower.open(origin, 'MZ1');
  const idle = await provider(port);
  idle.say({ ...twilioStart(), streamSid: 'MZ2', start: { mediaFormat: twilioFormat } });
  idle.say(media('inbound', '0'));
  await until(() => analyser.liveStreams.length === 3);
  const followsIdle = await CallFollower.open(origin, 'MZ2');
  nowMs = 50_000;
  talks.say(media('inbound', '1000'));
  await until(() => analyser.liveStreams[1]?.pieces.length === 2);
  nowMs = 61_000;
  await assertEnds(idle, 4408);
  assert.equal((await followsIdle.next('error')).key, 'STREAM_IDLE');
  assert.equal(talks.isClosed, false, 'one leg talks');
  const stopping = server.stop();
  await assertEnds(talks, 4503);
  assert.deepEqual(
    (await follower.ended()).map((event) => (event.type === 'error' ? [event.key, event.leg] : event.type)),
    [['STOPPING', 'outbound'], ['STOPPING', 'inbound'], 'end'],
  );
  await stopping;
});

test('a call ends with its key', async (t) => {
  const revoked = new Set<string>();
  const find = (id: string) => (revoked.has(id) ? undefined : testAuthenticator.find(id));
  const { port, analyser } = await serve(t, {}, { keys: { ...testAuthenticator, find } });
  const client = await provider(port);
  client.say(twilioStart());
  client.say(media('inbound', '0'));
  await until(() => analyser.liveStreams.length === 1);
  revoked.add('key-1');
  await assertEnds(client, 4401);
});

test('followers hear nothing more once their key has ended; the call goes on', async (t) => {
  const revoked = new Set<string>();
  const find = (id: string) => (revoked.has(id) ? undefined : testAuthenticator.find(id));
  const { port, origin, analyser } = await serve(t, {}, { keys: { ...testAuthenticator, find } });
  const client = await provider(port);
  client.say(twilioStart());
  client.say(media('inbound', '0'));
  await until(() => analyser.liveStreams.length === 1);
  const ending = await CallFollower.open(origin, 'MZ1', { 'x-api-key': PREDICT_API_KEY });
  const staying = await CallFollower.open(origin, 'MZ1');
  analyser.liveStreams[0]?.tellWindow(0, 0.9);
  await ending.next('window');
  revoked.add('key-5');
  analyser.liveStreams[0]?.tellWindow(1, 0.9);
  await until(() => staying.events.length === 2);
  assert.equal((await ending.ended()).length, 1);
});
